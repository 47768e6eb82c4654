#include <stdlib.h>
#include <pthread.h>
#include <urcu.h>
#include <urcu/rculist.h>

struct client {
    struct cds_list_head list;
    int fd;
};

static CDS_LIST_HEAD(clients);

/* Forgets a client. */
static void client_del(struct client *c)
{
    cds_list_del_rcu(&c->list);
    synchronize_rcu();
    free(c);
}

static void clients_clear(void)
{
    struct client *c, *n;

    cds_list_for_each_entry_safe(c, n, &clients, list) {
        cds_list_del_rcu(&c->list);
        urcu_memb_synchronize_rcu();
        free(c);
    }
}

static void *serve(void *arg)
{
    client_del(arg);
    clients_clear();
    return NULL;
}

int main(void)
{
    pthread_t t;

    return pthread_create(&t, NULL, serve, NULL);
}
