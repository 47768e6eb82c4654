// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages: a table of queues for each namespace, and what they hold in all.
#include "namespace.h"

#include <stdlib.h>

static struct queue *queue_find(struct ipc_ns *ns, int id)
{
	struct queue *q;

	cds_list_for_each_entry_rcu(q, &ns->queues, link) {
		if (q->id == id)
			return q;
	}
	return NULL;
}

int queue_create(struct ipc_ns *ns, int id)
{
	struct queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -1;
	q->id = id;
	pthread_mutex_lock(&ns->queues_lock);
	if (queue_find(ns, id)) {
		pthread_mutex_unlock(&ns->queues_lock);
		free(q);
		return -1;
	}
	cds_list_add_rcu(&q->link, &ns->queues);
	pthread_mutex_unlock(&ns->queues_lock);
	return 0;
}

// Every sender of a namespace writes the same two counters; only a report
// reads them.
int queue_send(struct ipc_ns *ns, int id, unsigned long bytes)
{
	struct queue *q;
	int ret = -1;

	rcu_read_lock();
	q = queue_find(ns, id);
	if (q) {
		uatomic_add(&q->bytes, bytes);
		uatomic_add(&ns->msg_bytes, bytes);
		uatomic_inc(&ns->msg_hdrs);
		ret = 0;
	}
	rcu_read_unlock();
	return ret;
}

// The wait protects nothing but the memory of q.
void queue_remove(struct ipc_ns *ns, int id)
{
	struct queue *q;

	pthread_mutex_lock(&ns->queues_lock);
	q = queue_find(ns, id);
	if (q)
		cds_list_del_rcu(&q->link);
	pthread_mutex_unlock(&ns->queues_lock);
	if (!q)
		return;
	synchronize_rcu();
	free(q);
}

void msg_report(const struct ipc_ns *ns, unsigned long *bytes,
		unsigned long *hdrs)
{
	*bytes = uatomic_read(&ns->msg_bytes);
	*hdrs = uatomic_read(&ns->msg_hdrs);
}

// Nobody else has a reference: no reader is left, no wait is needed.
void msg_exit_ns(struct ipc_ns *ns)
{
	struct queue *q, *next;

	cds_list_for_each_entry_safe(q, next, &ns->queues, link) {
		cds_list_del(&q->link);
		free(q);
	}
}
