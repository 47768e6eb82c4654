// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Namespaces and their references.
#include "namespace.h"

#include <stdlib.h>

static CDS_LIST_HEAD(namespaces);
static pthread_mutex_t namespaces_lock = PTHREAD_MUTEX_INITIALIZER;

struct ipc_ns *ns_create(unsigned long id)
{
	struct ipc_ns *ns = calloc(1, sizeof(*ns));

	if (!ns)
		return NULL;
	urcu_ref_init(&ns->ref);
	ns->id = id;
	CDS_INIT_LIST_HEAD(&ns->queues);
	pthread_mutex_init(&ns->queues_lock, NULL);
	if (mq_init_ns(ns)) {
		pthread_mutex_destroy(&ns->queues_lock);
		free(ns);
		return NULL;
	}
	pthread_mutex_lock(&namespaces_lock);
	cds_list_add_rcu(&ns->link, &namespaces);
	pthread_mutex_unlock(&namespaces_lock);
	return ns;
}

unsigned long ns_total_bytes(void)
{
	struct ipc_ns *ns;
	unsigned long total = 0;

	rcu_read_lock();
	cds_list_for_each_entry_rcu(ns, &namespaces, link) {
		unsigned long bytes, hdrs;

		msg_report(ns, &bytes, &hdrs);
		total += bytes;
	}
	rcu_read_unlock();
	return total;
}

void ns_get(struct ipc_ns *ns)
{
	urcu_ref_get(&ns->ref);
}

static void ns_release(struct urcu_ref *ref)
{
	struct ipc_ns *ns = caa_container_of(ref, struct ipc_ns, ref);

	pthread_mutex_lock(&namespaces_lock);
	cds_list_del_rcu(&ns->link);
	pthread_mutex_unlock(&namespaces_lock);
	msg_exit_ns(ns);
	// Waits for a grace period, two files away, once for each namespace.
	mq_put_mount(ns);
	reaper_add(ns);
}

void ns_put(struct ipc_ns *ns)
{
	urcu_ref_put(&ns->ref, ns_release);
}
