// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects of the example and what the files offer each other.
//
//   main.c --> namespace.c --> mqueue.c --> mount.c --> synchronize_rcu()
//                  |
//                  +--> msg.c, reaper.c
#ifndef IPCNS_NAMESPACE_H
#define IPCNS_NAMESPACE_H

#define _LGPL_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <urcu.h>
#include <urcu/list.h>
#include <urcu/rculist.h>
#include <urcu/ref.h>

// A file system instance, found by the namespace it belongs to.
struct mount {
	struct cds_list_head link;  // in the mount table, read under RCU
	const void *key;            // the owner
	unsigned int mode;          // guarded by attr_lock
	unsigned long changed;      // guarded by attr_lock
	unsigned char *pages;
};

// A queue of messages, found by its id.
struct queue {
	struct cds_list_head link;  // in the namespace's table, read under RCU
	int id;
	unsigned long bytes;
};

// What one container sees of inter-process communication.
struct ipc_ns {
	struct urcu_ref ref;
	struct cds_list_head link;  // in the list of all, read under RCU
	unsigned long id;
	struct mount *mq_mount;
	struct cds_list_head queues;
	pthread_mutex_t queues_lock;
	unsigned long msg_bytes;    // atomic: bytes in all queues
	unsigned long msg_hdrs;     // atomic: messages in all queues
	struct ipc_ns *next_dead;   // in the reaper's list
};

// namespace.c
struct ipc_ns *ns_create(unsigned long id);
void ns_get(struct ipc_ns *ns);
void ns_put(struct ipc_ns *ns);
unsigned long ns_total_bytes(void);

// mqueue.c
int mq_init_ns(struct ipc_ns *ns);
void mq_put_mount(struct ipc_ns *ns);
int mq_open(struct ipc_ns *ns, unsigned int mode);

// mount.c
struct mount *mount_get_keyed(const void *key);
void mount_destroy(struct mount *m);
void mount_set_mode(struct mount *m, unsigned int mode);
unsigned int mount_mode(const struct mount *m);
unsigned int mount_count(void);

// msg.c
int queue_create(struct ipc_ns *ns, int id);
int queue_send(struct ipc_ns *ns, int id, unsigned long bytes);
void queue_remove(struct ipc_ns *ns, int id);
void msg_report(const struct ipc_ns *ns, unsigned long *bytes,
		unsigned long *hdrs);
void msg_exit_ns(struct ipc_ns *ns);

// reaper.c
int reaper_start(void);
void reaper_add(struct ipc_ns *ns);
void reaper_stop(void);

#endif
