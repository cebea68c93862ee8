/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of guest/itron/channel: what they move, how long they wait, and every error code. The
 * other guest is guest/tests/channel.c, more urgent, which sends back what it receives; who runs
 * the test restarts it when it is told to.
 */
#include "channel_end.h"
#include "itron_channel.h"
#include "kernel_id.h"
#include "print.h"
#include "rtos.h"
#include "tap.h"
#include "tasks.h"

/* The main task's end, the helper's, and one that sends only. The first is opened at the start. */
#define END_MAIN 1
#define END_HELPER 2
#define END_SENDS 3

#define TIME 20 /* ms */

static ER_ID opened;
static void (*volatile handler_work)(void);
static void (*helper_work)(void);
static UB bytes[64];
/* Bytes count up; those that were sent, and those that came back. */
static UINT sent, received;

void initialize(VP_INT exinf)
{
	(void)exinf;
	opened = vopn_chn("line");
}

/* In each millisecond while it operates. */
void handler_call(VP_INT exinf)
{
	(void)exinf;
	if (handler_work)
		handler_work();
}

void helper_run(VP_INT exinf)
{
	(void)exinf;
	helper_work();
}

static void handler_begin(void (*work)(void))
{
	handler_work = work;
	sta_cyc(CYC_CALL);
}

static void handler_end(void)
{
	stp_cyc(CYC_CALL);
	handler_work = NULL;
}

static void helper_start(void (*work)(void))
{
	helper_work = work;
	expect_equal(act_tsk(TSK_HELPER), E_OK);
}

static SYSTIM now(void)
{
	SYSTIM time;

	get_tim(&time);
	return time;
}

static struct gandalf_channel *memory(void)
{
	return (struct gandalf_channel *)shared_page->channels[0].address;
}

static ER_UINT send(ID end, UINT size, TMO tmout)
{
	ER_UINT result;

	for (UINT i = 0; i < size; i++)
		bytes[i] = (UB)(sent + i);
	result = vtsnd_chn(end, bytes, size, tmout);
	if (result > 0)
		sent += (UINT)result;
	return result;
}

/* What is received has to be what was sent. */
static ER_UINT receive(ID end, TMO tmout)
{
	static UB received_bytes[64];
	ER_UINT result = vtrcv_chn(end, received_bytes, sizeof(received_bytes), tmout);

	for (ER_UINT i = 0; i < result; i++, received++)
		expect_equal(received_bytes[i], (UB)received);
	return result;
}

static void receive_rest(void)
{
	while (received < sent)
		if (!expect(receive(END_MAIN, 1000) > 0))
			return;
	expect_equal(receive(END_MAIN, TMO_POL), E_TMOUT);
}

/* --- Errors --- */

static void test_open(void)
{
	expect_equal(opened, END_MAIN);
	expect_equal(vopn_chn("lines"), E_OBJ);
	expect_equal(vopn_chn(""), E_OBJ);
	expect_equal(vprcv_chn(END_HELPER, bytes, 1), E_NOEXS);
	expect_equal(vpsnd_chn(END_HELPER, bytes, 1), E_NOEXS);
	expect_equal(vopn_chn(NULL), END_HELPER);
	for (ID id = END_SENDS; id <= VTMAX_CHNID; id++)
		expect_equal(vopn_chn("line"), id);
	expect_equal(vopn_chn("line"), E_NOID);
}

static void test_parameters(void)
{
	static const ID wrong[] = { -1, 0, VTMAX_CHNID + 1 };

	for (UINT i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		expect_equal(vrcv_chn(wrong[i], bytes, 1), E_ID);
		expect_equal(vprcv_chn(wrong[i], bytes, 1), E_ID);
		expect_equal(vtrcv_chn(wrong[i], bytes, 1, 1), E_ID);
		expect_equal(vsnd_chn(wrong[i], bytes, 1), E_ID);
		expect_equal(vpsnd_chn(wrong[i], bytes, 1), E_ID);
		expect_equal(vtsnd_chn(wrong[i], bytes, 1, 1), E_ID);
	}
	expect_equal(vrcv_chn(END_MAIN, bytes, 0), E_PAR);
	expect_equal(vsnd_chn(END_MAIN, bytes, 0), E_PAR);
	expect_equal(vtrcv_chn(END_MAIN, bytes, 1, TMO_NBLK), E_PAR);
	expect_equal(vtsnd_chn(END_MAIN, bytes, 1, TMO_NBLK), E_PAR);
}

static volatile UINT refusals;

/* Where no call may be made. */
static void refused(void)
{
	refusals++;
	expect_equal(vrcv_chn(END_MAIN, bytes, 1), E_CTX);
	expect_equal(vprcv_chn(END_MAIN, bytes, 1), E_CTX);
	expect_equal(vtrcv_chn(END_MAIN, bytes, 1, TMO_POL), E_CTX);
	expect_equal(vsnd_chn(END_MAIN, bytes, 1), E_CTX);
	expect_equal(vpsnd_chn(END_MAIN, bytes, 1), E_CTX);
	expect_equal(vtsnd_chn(END_MAIN, bytes, 1, TMO_POL), E_CTX);
}

static void test_contexts(void)
{
	loc_cpu();
	refused();
	unl_cpu();
	expect_equal(refusals, 1);
	handler_begin(refused);
	dly_tsk(2);
	handler_end();
	expect(refusals > 1);
	dis_dsp();
	expect_equal(vrcv_chn(END_MAIN, bytes, 1), E_CTX);
	expect_equal(vtrcv_chn(END_MAIN, bytes, 1, 1), E_CTX);
	expect_equal(vprcv_chn(END_MAIN, bytes, 1), E_TMOUT);
	expect_equal(vtrcv_chn(END_MAIN, bytes, 1, TMO_POL), E_TMOUT);
	expect_equal(vsnd_chn(END_MAIN, bytes, 1), E_CTX);
	expect_equal(send(END_MAIN, 3, TMO_POL), 3);
	ena_dsp();
	receive_rest();
}

/* --- Bytes and time-outs --- */

static void test_echo(void)
{
	for (UINT i = 1; i <= sizeof(bytes); i++) {
		expect_equal(send(END_MAIN, i, TMO_FEVR), i);
		receive_rest();
	}
	expect_equal(received, sent);
}

/* A time-out expires with the first tick at which the whole time has passed. */
static void expect_time_out(ER_UINT (*call)(ID end, TMO tmout), ID end)
{
	SYSTIM start = now();
	UINT passed;

	expect_equal(call(end, TIME), E_TMOUT);
	passed = now() - start;
	expect(passed == TIME || passed == TIME + 1);
}

static ER_UINT send_one(ID end, TMO tmout)
{
	return send(end, 1, tmout);
}

static void test_receive_time_out(void)
{
	dly_tsk(0);
	expect_equal(receive(END_MAIN, TMO_POL), E_TMOUT);
	expect_time_out(receive, END_MAIN);
}

/* Of another guest that rings and sends nothing. */
static void test_rings_do_not_prolong(void)
{
	handler_begin(channel_interrupt);
	expect_time_out(receive, END_MAIN);
	handler_end();
}

static void fill(void)
{
	ER_UINT result;

	while ((result = send(END_SENDS, sizeof(bytes), 5)) > 0)
		;
	expect_equal(result, E_TMOUT);
}

static void test_send_time_out(void)
{
	UINT ring = (shared_page->channels[0].size - GANDALF_CHANNEL_HEADER) / 2 - 1;

	fill();
	expect(sent - received > 2 * ring); /* both rings, and what the other holds */
	expect_equal(send(END_MAIN, 1, TMO_POL), E_TMOUT);
	expect_time_out(send_one, END_MAIN);
	receive_rest();
	expect_equal(send(END_MAIN, 1, TMO_POL), 1);
	receive_rest();
}

static void drain(void)
{
	while (received < sent)
		if (!expect(receive(END_HELPER, 1000) > 0))
			break;
	wup_tsk(TSK_MAIN);
}

static void test_send_waits_for_room(void)
{
	UINT before;

	fill();
	before = sent;
	helper_start(drain);
	expect(send(END_MAIN, sizeof(bytes), TMO_FEVR) > 0);
	expect(received > 0 && received < before); /* there was room as soon as could be */
	slp_tsk();
	expect_equal(received, sent);
}

static void send_later(void)
{
	dly_tsk(3);
	expect_equal(send(END_HELPER, 7, TMO_FEVR), 7);
}

static void test_receive_waits_for_bytes(void)
{
	helper_start(send_later);
	expect_equal(receive(END_MAIN, TMO_FEVR), 7);
	receive_rest();
}

static void release(void)
{
	irel_wai(TSK_MAIN);
}

static void test_forced_release(void)
{
	handler_begin(release);
	expect_equal(receive(END_MAIN, TMO_FEVR), E_RLWAI);
	handler_end();
	fill();
	handler_begin(release);
	expect_equal(send(END_MAIN, 1, TMO_FEVR), E_RLWAI);
	handler_end();
	receive_rest();
}

/* --- What the other guest does wrong --- */

static void test_nonsense(void)
{
	for (UINT ring = 0; ring < 2; ring++) {
		UW *index = ring == 0 ? &memory()->rings[0].tail : &memory()->rings[1].head;
		UW good = *index;

		*index |= GANDALF_CHANNEL_POSITION;
		if (ring == 0) {
			expect_equal(send(END_MAIN, 1, TMO_POL), E_OBJ);
			expect_equal(send(END_MAIN, 1, TMO_FEVR), E_OBJ);
		} else {
			expect_equal(receive(END_MAIN, TMO_POL), E_OBJ);
			expect_equal(receive(END_MAIN, TMO_FEVR), E_OBJ);
		}
		*index = good;
	}
	expect_equal(send(END_MAIN, 5, TMO_FEVR), 5);
	receive_rest();
}

static void offer_and_take_back(void)
{
	memory()->rings[1].head++;
	channel_interrupt();
	memory()->rings[1].head--;
}

static void test_bytes_taken_back(void)
{
	handler_begin(offer_and_take_back);
	expect_equal(receive(END_MAIN, TMO_FEVR), E_OBJ);
	handler_end();
	expect_equal(receive(END_MAIN, TMO_POL), E_TMOUT);
}

/* --- A new life of the other guest --- */

/* Stopping and starting are an epoch each. */
static UINT resets(ER_UINT (*call)(ID end, TMO tmout), ID end, TMO tmout)
{
	UINT count = 0;

	while (call(end, tmout) == E_CLS)
		count++;
	return count;
}

static void test_restart_while_waiting(void)
{
	print("# restart it\n");
	expect_equal(receive(END_MAIN, TMO_FEVR), E_CLS);
	dly_tsk(100);
	expect(resets(receive, END_MAIN, TMO_POL) <= 1);
	expect_equal(resets(receive, END_HELPER, TMO_POL), 1);
	sent = received;
	expect_equal(send(END_SENDS, 1, TMO_POL), E_CLS);
	expect_equal(send(END_SENDS, 9, TMO_FEVR), 9);
	receive_rest();
}

static UW epoch;

static UW epoch_now(void)
{
	return memory()->rings[0].head & ~(UW)GANDALF_CHANNEL_POSITION;
}

/* Wakes the main task when a new epoch has begun. */
static void epoch_watch(void)
{
	if (epoch != epoch_now())
		iwup_tsk(TSK_MAIN);
}

/* What nobody has received is gone with the life of who sent it. */
static void test_restart_between_calls(void)
{
	expect_equal(send(END_MAIN, 5, TMO_FEVR), 5);
	dly_tsk(2);
	epoch = epoch_now();
	handler_begin(epoch_watch);
	print("# restart it once more\n");
	slp_tsk();
	handler_end();
	dly_tsk(100);
	can_wup(TSK_SELF);
	expect_equal(resets(receive, END_MAIN, TMO_POL), 1);
	expect_equal(receive(END_MAIN, TMO_POL), E_TMOUT);
	sent = received;
	expect_equal(send(END_MAIN, 9, TMO_FEVR), 9);
	receive_rest();
}

static const struct tap_test tests[] = {
	{ "opening", test_open },
	{ "wrong parameters", test_parameters },
	{ "contexts", test_contexts },
	{ "bytes come back", test_echo },
	{ "receiving: time-out", test_receive_time_out },
	{ "rings do not prolong a wait", test_rings_do_not_prolong },
	{ "sending: time-out", test_send_time_out },
	{ "sending waits for room", test_send_waits_for_room },
	{ "receiving waits for bytes", test_receive_waits_for_bytes },
	{ "forced release", test_forced_release },
	{ "nonsense", test_nonsense },
	{ "bytes that are taken back", test_bytes_taken_back },
	{ "a restart while a task waits", test_restart_while_waiting },
	{ "a restart while none does", test_restart_between_calls },
};

void main_run(VP_INT exinf)
{
	static const struct tap_group group = TAP_GROUP(tests);

	(void)exinf;
	tap_run("channel", &group, 1);
	slp_tsk();
}
