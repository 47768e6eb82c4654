#include <linux/rcupdate.h>
#include <linux/slab.h>

#define SLOTS 16

struct entry {
	int key;
};

struct group {
	struct entry *slots[SLOTS];
	struct entry *dying[SLOTS];
};

static void group_clear(struct group *g)
{
	int i;

	for (i = 0; i < SLOTS; i++) {
		g->dying[i] = g->slots[i];
		RCU_INIT_POINTER(g->slots[i], NULL);

		/* Readers may still see the entry. */
		synchronize_rcu();

		spin_lock(NULL);
		g->dying[i] = NULL;
		spin_unlock(NULL);
	}
}

struct node {
	struct list_head list;
	struct list_head dead;
};

static LIST_HEAD(nodes);

static void nodes_unlink(void)
{
	struct node *n, *next;

	list_for_each_entry_safe(n, next, &nodes, list) {
		list_del_rcu(&n->list);
		synchronize_rcu();
	}
}

static void nodes_stop(void)
{
	struct node *n, *next;

	list_for_each_entry_safe(n, next, &nodes, list) {
		list_del_rcu(&n->list);
		synchronize_rcu();
		n->dead.next = NULL;
	}
}

static void group_some(struct group *g)
{
	int i;

	for (i = 0; i < SLOTS; i++) {
		if (g->slots[i])
			synchronize_rcu();
	}
}

static void group_until(struct group *g)
{
	int i;

	for (i = 0; i < SLOTS; i++) {
		RCU_INIT_POINTER(g->slots[i], NULL);
		synchronize_rcu();
		if (!g->dying[i])
			break;
	}
}

static void entry_stop(struct entry *e)
{
	synchronize_rcu();
	writel(e->key, NULL);
}

static void group_stop(struct group *g)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		entry_stop(g->dying[i]);
}

static long ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	group_clear(f->private_data);
	nodes_unlink();
	nodes_stop();
	group_some(f->private_data);
	group_until(f->private_data);
	group_stop(f->private_data);
	return 0;
}

const struct file_operations fops = {
	.unlocked_ioctl = ioctl,
};
