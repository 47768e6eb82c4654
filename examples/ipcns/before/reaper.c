// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that frees dead namespaces, so that the last ns_put() need not.
#include "namespace.h"

#include <stdbool.h>
#include <stdlib.h>

static struct ipc_ns *dead;
static bool stopping;
static pthread_mutex_t dead_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t dead_any = PTHREAD_COND_INITIALIZER;
static pthread_t reaper;

// In the background, but still one grace period for each namespace: when they
// die faster than that, the list grows without bound.
static void reap(struct ipc_ns *list)
{
	while (list) {
		struct ipc_ns *ns = list;

		list = ns->next_dead;
		synchronize_rcu();
		pthread_mutex_destroy(&ns->queues_lock);
		free(ns);
	}
}

static void *reaper_main(void *unused)
{
	(void)unused;
	rcu_register_thread();
	for (;;) {
		struct ipc_ns *list;
		bool last;

		pthread_mutex_lock(&dead_lock);
		while (!dead && !stopping)
			pthread_cond_wait(&dead_any, &dead_lock);
		list = dead;
		dead = NULL;
		last = stopping;
		pthread_mutex_unlock(&dead_lock);
		reap(list);
		if (last)
			break;
	}
	rcu_unregister_thread();
	return NULL;
}

void reaper_add(struct ipc_ns *ns)
{
	pthread_mutex_lock(&dead_lock);
	ns->next_dead = dead;
	dead = ns;
	pthread_cond_signal(&dead_any);
	pthread_mutex_unlock(&dead_lock);
}

int reaper_start(void)
{
	return pthread_create(&reaper, NULL, reaper_main, NULL);
}

// Frees what is left, then returns. Nobody may add any more.
void reaper_stop(void)
{
	pthread_mutex_lock(&dead_lock);
	stopping = true;
	pthread_cond_signal(&dead_any);
	pthread_mutex_unlock(&dead_lock);
	pthread_join(reaper, NULL);
}
