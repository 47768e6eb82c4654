#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "foo.h"

static LIST_HEAD(routes);
static spinlock_t routes_lock;

static void route_del(struct route *r)
{
	spin_lock(&routes_lock);
	list_del_rcu(&r->list);
	spin_unlock(&routes_lock);

	/* Wait for readers of the list. */
	synchronize_rcu();

	kfree(r);
}

static void bag_del(struct bag *b)
{
	list_del_rcu(&b->list);
	synchronize_net();
	kfree(b);
}

struct conn {
	struct list_head list;
	char *name;
	char *peer;
};

static struct kmem_cache *conn_cache;

/*
 * Takes a connection away.
 */
static void conn_del(struct conn *c)
{
	list_del_rcu(&c->list);
	synchronize_rcu();
	kfree(c->name);
	kfree(c->peer);
	kmem_cache_free(conn_cache, c);
}

struct table {
	int size;
	void *cells;
};

struct owner {
	struct table *table;
	struct srcu_struct srcu;
};

static void table_swap(struct owner *o, struct table *new)
{
	struct table *old = rcu_dereference_protected(o->table, 1);

	rcu_assign_pointer(o->table, new);
	synchronize_srcu(&o->srcu);
	kfree(old->cells);
	kfree(old);
}

struct overlay {
	struct list_head list;
	union {
		int key;
		struct rcu_head rcu;
	};
};

static void overlay_del(struct overlay *v)
{
	list_del_rcu(&v->list);
	synchronize_rcu();
	kfree(v);
}

struct buffer {
	struct list_head list;
} __attribute__((packed));

static void buffer_del(struct buffer *b)
{
	list_del_rcu(&b->list);
	synchronize_rcu();
	kfree(b);
}

void user(struct file *f)
{
	route_del(f->private_data);
	bag_del(f->private_data);
	conn_del(f->private_data);
	table_swap(f->private_data, f->private_data);
	overlay_del(f->private_data);
	buffer_del(f->private_data);
}

static long ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	user(f);
	return 0;
}

const struct file_operations fops = {
	.unlocked_ioctl = ioctl,
};
