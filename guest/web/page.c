/* SPDX-License-Identifier: Apache-2.0 */
/* The web server's page and its JSON. Nothing here knows the guest. */
#include "page.h"

#include "histogram.h"
#include "text.h"

/* It is XML, too, so that any reader can tell whether it is whole. */
static const char page_head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
	"<meta http-equiv=\"refresh\" content=\"2\"/>"
	"<title>Dispatch latency</title><style>"
	"body{font:16px sans-serif;margin:2em;max-width:50em}"
	"td,th{padding:0 .6em;text-align:right}td.bar{width:30em}"
	"td.bar div{background:#36c;height:.9em}"
	"</style></head><body>\n<h1>Dispatch latency</h1>\n"
	"<p>From the timer's expiry to the first instruction of a 1 ms task";

static const char page_tail[] = "</table>\n</body></html>\n";

static uint32_t page_minimum(const struct statistics *statistics)
{
	return statistics->activations ? statistics->minimum : 0;
}

static void page_bars(struct text_buffer *text, const struct histogram *histogram)
{
	for (uint32_t i = 0; i < histogram->bars; i++)
		text_add(text,
			 "<tr><td>%u</td><td>%u</td>"
			 "<td class=\"bar\"><div style=\"width:%u%%\"></div></td></tr>\n",
			 histogram->bar[i].limit, histogram->bar[i].count,
			 histogram_length(histogram, i));
}

uint32_t page_write_html(char *to, const struct statistics *statistics, uint32_t khz)
{
	struct text_buffer text = { .to = to, .size = PAGE_MAXIMUM };
	struct histogram histogram;

	histogram_make(&histogram, statistics);
	text_add(&text, "%s, in cycles of %u kHz.</p>\n<table>\n", page_head, khz);
	text_add(&text, "<tr><th>activations</th><th>missed</th><th>minimum</th><th>mean</th>"
			"<th>99.9 %%</th><th>maximum</th></tr>\n");
	text_add(&text,
		 "<tr><td>%u</td><td>%u</td><td>%u</td><td>%u</td><td>%u</td><td>%u</td></tr>\n",
		 statistics->activations, statistics->missed, page_minimum(statistics),
		 statistics_mean(statistics), statistics_percentile(statistics, 999),
		 statistics->maximum);
	text_add(&text, "</table>\n<h2>Histogram</h2>\n<p>Lengths are logarithmic.</p>\n<table>\n"
			"<tr><th>up to</th><th>count</th><th></th></tr>\n");
	page_bars(&text, &histogram);
	text_add(&text, "%s", page_tail);
	return text.length;
}

uint32_t page_write_json(char *to, const struct statistics *statistics, uint32_t khz)
{
	struct text_buffer text = { .to = to, .size = PAGE_MAXIMUM };
	struct histogram histogram;

	histogram_make(&histogram, statistics);
	text_add(&text, "{\"activations\":%u,\"missed\":%u,\"minimum\":%u,\"mean\":%u,",
		 statistics->activations, statistics->missed, page_minimum(statistics),
		 statistics_mean(statistics));
	text_add(&text, "\"p99.9\":%u,\"maximum\":%u,\"tsc_khz\":%u,\"histogram\":[",
		 statistics_percentile(statistics, 999), statistics->maximum, khz);
	for (uint32_t i = 0; i < histogram.bars; i++)
		text_add(&text, "%s{\"up_to\":%u,\"count\":%u}", i ? "," : "",
			 histogram.bar[i].limit, histogram.bar[i].count);
	text_add(&text, "]}\n");
	return text.length;
}
