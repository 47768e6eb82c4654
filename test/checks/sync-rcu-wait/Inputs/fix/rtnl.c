#include <linux/rcupdate.h>
#include <linux/netdevice.h>

struct vlan_group {
	int ports;
};

struct bridge {
	struct vlan_group *group;
};

void vlan_group_stop(struct vlan_group *g);

static void bridge_flush(struct bridge *b)
{
	struct vlan_group *g = b->group;

	ASSERT_RTNL();
	RCU_INIT_POINTER(b->group, NULL);
	synchronize_rcu();
	vlan_group_stop(g);
}

static void bridge_close(struct vlan_group *g)
{
	synchronize_rcu();
	vlan_group_stop(g);
	synchronize_rcu();
}

static long ioctl(struct file *f, unsigned cmd, unsigned long arg)
{
	bridge_flush(f->private_data);
	bridge_close(f->private_data);
	return 0;
}

const struct file_operations fops = {
	.unlocked_ioctl = ioctl,
};
