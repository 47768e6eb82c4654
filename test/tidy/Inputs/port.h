#ifndef PORT_H
#define PORT_H
struct rcu_head {
  void *next;
  void (*func)(struct rcu_head *);
};
struct list_head {
  struct list_head *next, *prev;
};
void synchronize_rcu(void);
void kfree(const void *);
void free_later(const void *, struct rcu_head *);
#define kfree_rcu(p, field) free_later(p, &(p)->field)
void list_del_rcu(struct list_head *);

struct port {
  struct list_head list;
  int number;
};
struct file;
struct inode;
struct file_operations {
  int (*release)(struct inode *, struct file *);
};
struct port *port_of(struct file *);
#endif
