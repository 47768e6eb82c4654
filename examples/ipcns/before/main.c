// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes and drops namespaces in several threads while others look at the
// tables. Exits 0 if everything that was made is gone again.
#include "namespace.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAKERS = 2, NAMESPACES = 8, QUEUES = 2, MESSAGES = 16, BYTES = 64 };

static bool done;
static unsigned int failures;

static void fail(const char *what)
{
	fprintf(stderr, "ipcns: %s\n", what);
	uatomic_inc(&failures);
}

static void use_namespace(struct ipc_ns *ns)
{
	unsigned long bytes, hdrs;

	ns_get(ns);
	if (mq_open(ns, 0700) != 0700)
		fail("the mode was not kept");
	for (int q = 0; q < QUEUES; q++) {
		if (queue_create(ns, q))
			fail("no queue");
		for (int m = 0; m < MESSAGES; m++) {
			if (queue_send(ns, q, BYTES))
				fail("no such queue");
		}
	}
	msg_report(ns, &bytes, &hdrs);
	if (hdrs != QUEUES * MESSAGES || bytes != hdrs * BYTES)
		fail("messages were lost");
	queue_remove(ns, 0);
	if (!queue_send(ns, 0, BYTES))
		fail("a removed queue was found");
	ns_put(ns);
}

static void *make_namespaces(void *arg)
{
	unsigned long first = (unsigned long)(uintptr_t)arg * NAMESPACES;

	rcu_register_thread();
	for (unsigned long i = 0; i < NAMESPACES; i++) {
		struct ipc_ns *ns = ns_create(first + i);

		if (!ns) {
			fail("out of memory");
			break;
		}
		use_namespace(ns);
		ns_put(ns);
	}
	rcu_unregister_thread();
	return NULL;
}

static void *watch(void *unused)
{
	struct timespec pause = { .tv_nsec = 100000 };

	(void)unused;
	rcu_register_thread();
	while (!CMM_LOAD_SHARED(done)) {
		if (mount_count() > MAKERS)
			fail("a mount outlived its namespace");
		if (ns_total_bytes() > MAKERS * 2UL * QUEUES * MESSAGES * BYTES)
			fail("a namespace outlived its last reference");
		nanosleep(&pause, NULL);
	}
	rcu_unregister_thread();
	return NULL;
}

int main(void)
{
	pthread_t makers[MAKERS], watcher;

	rcu_register_thread();
	if (reaper_start() || pthread_create(&watcher, NULL, watch, NULL))
		return EXIT_FAILURE;
	for (int i = 0; i < MAKERS; i++) {
		void *arg = (void *)(uintptr_t)i;

		if (pthread_create(&makers[i], NULL, make_namespaces, arg))
			return EXIT_FAILURE;
	}
	for (int i = 0; i < MAKERS; i++)
		pthread_join(makers[i], NULL);
	CMM_STORE_SHARED(done, true);
	pthread_join(watcher, NULL);
	reaper_stop();
	if (mount_count() || ns_total_bytes())
		fail("something is left");
	printf("%d namespaces made and dropped\n", MAKERS * NAMESPACES);
	rcu_unregister_thread();
	return uatomic_read(&failures) ? EXIT_FAILURE : EXIT_SUCCESS;
}
