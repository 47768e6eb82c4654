#include "../../kernel.h"
