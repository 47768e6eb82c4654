#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "session.h"

static struct kmem_cache *session_cache;

/* The last reference ends the session. */
static void session_put(struct session *s)
{
	if (refcount_dec_and_test(&s->refs)) {
		list_del_rcu(&s->list);

		synchronize_rcu();
		log_close(s->log);
		kfree(s);
	}
}

struct channel {
	refcount_t refs;
	void *log;
};

static int channel_put(struct channel *c, int flags)
{
	if (!refcount_dec_and_test(&c->refs))
		return 1;
	synchronize_rcu();
	log_close(c->log);
	if (flags)
		kfree(c);
	return 0;
}

struct port {
	refcount_t refs;
	void *log;
};

static void port_put(struct port *p)
{
	if (!refcount_dec_and_test(&p->refs))
		return;
	synchronize_rcu();
	log_close(p->log);
}

static int release(struct inode *inode, struct file *f)
{
	session_put(f->private_data);
	channel_put(f->private_data, 1);
	port_put(f->private_data);
	return 0;
}

const struct file_operations fops = {
	.release = release,
};

static void __exit session_exit(void)
{
	pr_debug("bye");
	kmem_cache_destroy(session_cache);
}
module_exit(session_exit);
