#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "../uapi/abi.h"

void cleanup_srcu_struct(struct srcu_struct *domain);

static struct kmem_cache *cell_cache;
static struct srcu_struct cells_srcu;

struct cell {
	struct list_head list;
	void *data;
};

static void cell_del(struct cell *c)
{
	list_del_rcu(&c->list);
	synchronize_rcu();
	kmem_cache_free(cell_cache, c);
}

static void cell_forget(struct cell *c)
{
	list_del_rcu(&c->list);
	synchronize_srcu(&cells_srcu);
	kfree(c);
}

struct leaf {
	struct list_head list;
	void *data;
	struct rcu_head head;
};

static void leaf_del(struct leaf *f)
{
	list_del_rcu(&f->list);
	synchronize_rcu();
	kfree(f->data);
	kfree(f);
}

/* The kernel's own code frees, so unloading the module does no harm. */
static void leaf_forget(struct leaf *f)
{
	list_del_rcu(&f->list);
	synchronize_rcu();
	kfree(f);
}

static void abi_del(struct abi *a)
{
	list_del_rcu(&a->list);
	synchronize_rcu();
	kfree(a);
}

struct twin {
	struct list_head list;
	struct leaf *leaf;
};

static void twin_del(struct twin *t, struct list_head *peer)
{
	list_del_rcu(&t->list);
	list_del_rcu(peer);
	synchronize_rcu();
	kfree(t);
}

static void twin_told(struct twin *t)
{
	list_del_rcu(&t->list);
	/* Make sure that no interrupt handler is left that uses the list. */
	synchronize_rcu();
	kfree(t);
}

static void twin_inner(struct twin *t)
{
	list_del_rcu(&t->list);
	synchronize_rcu();
	kfree(t);
}

static void twin_outer(struct twin *t, void *table)
{
	twin_inner(t);
	kfree(table);
}

static long ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	cell_del(f->private_data);
	cell_forget(f->private_data);
	leaf_del(f->private_data);
	leaf_forget(f->private_data);
	abi_del(f->private_data);
	twin_del(f->private_data, f->private_data);
	twin_told(f->private_data);
	twin_outer(f->private_data, f->private_data);
	return 0;
}

const struct file_operations fops = {
	.unlocked_ioctl = ioctl,
};

static void __exit cells_exit(void)
{
	cleanup_srcu_struct(&cells_srcu);
	kmem_cache_destroy(cell_cache);
}
module_exit(cells_exit);
