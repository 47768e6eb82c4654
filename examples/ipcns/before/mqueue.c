// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// POSIX message queues: each namespace has a file system of its own for them.
#include "namespace.h"

// Mounts for every namespace, although only mq_open() needs the mount and few
// namespaces ever call it.
int mq_init_ns(struct ipc_ns *ns)
{
	ns->mq_mount = mount_get_keyed(ns);
	return ns->mq_mount ? 0 : -1;
}

void mq_put_mount(struct ipc_ns *ns)
{
	mount_destroy(ns->mq_mount);
	ns->mq_mount = NULL;
}

int mq_open(struct ipc_ns *ns, unsigned int mode)
{
	struct mount *m = ns->mq_mount;

	if (mount_mode(m) != mode)
		mount_set_mode(m, mode);
	return (int)mount_mode(m);
}
