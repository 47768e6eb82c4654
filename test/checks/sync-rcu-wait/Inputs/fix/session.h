#ifndef SESSION_H
#define SESSION_H

#include <linux/types.h>

struct session {
	refcount_t	refs;
	struct list_head list;
	void		*log;
};

void log_close(void *log);

#endif
