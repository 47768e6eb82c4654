#ifndef ABI_H
#define ABI_H

#include <linux/types.h>

struct abi {
	struct list_head list;
};

#endif
