#ifndef FOO_H
#define FOO_H

#include <linux/types.h>

/**
 * struct route - a way through the network
 * @list: in the table
 * @cost: lower is better, and
 *        never negative
 */
struct route {
	struct list_head	list;
	int			cost;
};

struct bag {
	struct list_head list;
	int count;
	/* The values, as many as count says. */
	long values[];
};

#endif
