static inline int header_release(struct inode *i, struct file *f) {
  struct port *p = port_of(f);
  list_del_rcu(&p->list);
  synchronize_rcu();
  kfree(p);
  return 0;
}
static const struct file_operations header_fops = {.release = header_release};
