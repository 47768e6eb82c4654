// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of all mounts. Writers hold mounts_lock, readers are in RCU.
#include "namespace.h"

#include <stdlib.h>

enum { MOUNT_PAGES = 4096 };

static CDS_LIST_HEAD(mounts);
static pthread_mutex_t mounts_lock = PTHREAD_MUTEX_INITIALIZER;
// One lock for the attributes of every mount, though each user wants one mount.
static pthread_rwlock_t attr_lock = PTHREAD_RWLOCK_INITIALIZER;

static struct mount *mount_alloc(const void *key)
{
	struct mount *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->pages = calloc(1, MOUNT_PAGES);
	if (!m->pages) {
		free(m);
		return NULL;
	}
	m->key = key;
	m->mode = 0755;
	return m;
}

// Finds the mount of key or makes it. Walks all mounts under the lock, although
// the key of a new namespace cannot be there yet.
struct mount *mount_get_keyed(const void *key)
{
	struct mount *m;

	pthread_mutex_lock(&mounts_lock);
	cds_list_for_each_entry(m, &mounts, link) {
		if (m->key == key)
			goto out;
	}
	m = mount_alloc(key);
	if (m)
		cds_list_add_tail_rcu(&m->link, &mounts);
out:
	pthread_mutex_unlock(&mounts_lock);
	return m;
}

void mount_destroy(struct mount *m)
{
	pthread_mutex_lock(&mounts_lock);
	cds_list_del_rcu(&m->link);
	pthread_mutex_unlock(&mounts_lock);
	synchronize_rcu();
	free(m->pages);
	free(m);
}

void mount_set_mode(struct mount *m, unsigned int mode)
{
	pthread_rwlock_wrlock(&attr_lock);
	m->mode = mode;
	m->changed++;
	pthread_rwlock_unlock(&attr_lock);
}

unsigned int mount_mode(const struct mount *m)
{
	unsigned int mode;

	pthread_rwlock_rdlock(&attr_lock);
	mode = m->mode;
	pthread_rwlock_unlock(&attr_lock);
	return mode;
}

unsigned int mount_count(void)
{
	struct mount *m;
	unsigned int n = 0;

	rcu_read_lock();
	cds_list_for_each_entry_rcu(m, &mounts, link)
		n++;
	rcu_read_unlock();
	return n;
}
