// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * Added to the kernel by setup.sh. Without it User-Mode Linux runs irq_work at its next timer tick, 100 times
 * a second, and gpio-sim hands its edges over by irq_work: they would be up to 10 ms late, and several would
 * become one. A board has an interrupt for that; here it is a byte through a socket to ourselves.
 */
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <irq_kern.h>
#include <os.h>

static int ends[2] = { -1, -1 };

static irqreturn_t raised(int irq, void *data)
{
	char bytes[64];

	while (os_read_file(ends[0], bytes, sizeof(bytes)) > 0)
		;
	irq_work_run();
	return IRQ_HANDLED;
}

void arch_irq_work_raise(void)
{
	/* A full socket has an interrupt on its way already. */
	if (ends[1] >= 0)
		os_write_file(ends[1], "", 1);
}

static int __init irq_work_init(void)
{
	int files[2];
	int error = os_pipe(files, 1, 1);

	if (error)
		return error;
	os_set_fd_block(files[1], 0);
	ends[0] = files[0];
	error = um_request_irq(UM_IRQ_ALLOC, files[0], IRQ_READ, raised, 0, "irq_work", &ends);
	if (error < 0)
		return error;
	ends[1] = files[1];
	return 0;
}
core_initcall(irq_work_init);
