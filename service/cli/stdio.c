/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate stdio: the same pipeline behind one JSON-RPC message a line.
 *
 * Three threads, so that the loop never waits for a pipe: a reader that blocks on standard input,
 * the loop, and a writer (a sink) that blocks on standard output. At most IN_FLIGHT_MAX calls are
 * worked on; beyond that the reader stops reading, which is all the back pressure a pipe needs.
 * File descriptor 1 points at standard error from the start, so that nothing but the writer can
 * reach the client. */
#include "service/base/clock.h"
#include "service/base/log.h"
#include "service/base/mem.h"
#include "service/base/small_file.h"
#include "service/cli/options.h"
#include "service/loop/loop.h"
#include "service/mcp/message.h"
#include "service/pipeline/gate.h"
#include "service/pipeline/gate_loop.h"
#include "service/pipeline/request.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    IN_FLIGHT_MAX = 64,
    OUTPUT_MAX_BYTES = 64 * 1024 * 1024,
    OUTPUT_WAIT_MS = 5000,
    TOKEN_FILE_MAX_BYTES = 64 * 1024,
    TICK_MS = 500,
};

struct values {
    const char *config, *token_file;
};

static const struct cli_option OPTIONS[] = {
    {"config", "FILE", "the configuration (listen and admin_listen are not used)", OPTION_TEXT,
     offsetof(struct values, config), 0, 0},
    {"token-file", "F",
     "file with the bearer token, read again for each call; default: KBGATE_TOKEN", OPTION_TEXT,
     offsetof(struct values, token_file), 0, 0},
};

struct stdio {
    struct gate *gate;
    struct loop *loop;
    struct gate_loop *gate_loop;
    struct sink *output;
    const char *token_file;
    sem_t room;                /* how many more lines may be read */
    unsigned in_flight;        /* loop thread */
    bool input_ended;          /* loop thread */
    struct loop_message ended; /* posted by the reader */
};

/* One line on its way. */
struct line {
    struct loop_message message; /* first */
    struct stdio *stdio;
    struct dynbuf bytes, token;
};

static void stop_if_idle(struct stdio *s)
{
    if (s->input_ended && s->in_flight == 0) {
        loop_stop(s->loop);
    }
}

static void line_free(struct line *line)
{
    dynbuf_done(&line->bytes);
    dynbuf_done(&line->token);
    free(line);
}

static void on_reply(struct request *r, const struct reply *reply, void *door)
{
    struct line *line = door;
    struct stdio *s = line->stdio;
    if (reply->body.n) {
        struct dynbuf out;
        dynbuf_init(&out, OUTPUT_MAX_BYTES);
        dynbuf_add(&out, reply->body);
        dynbuf_add_byte(&out, '\n');
        if (!sink_put(s->output, dynbuf_get(&out))) {
            log_event(LOG_ERROR, "output_dropped", "the client does not read its pipe");
        }
        dynbuf_done(&out);
    }
    request_free(r);
    line_free(line);
    s->in_flight--;
    sem_post(&s->room);
    stop_if_idle(s);
}

static struct slice trim(struct slice text)
{
    while (text.n && strchr(" \t\r\n", text.p[text.n - 1])) {
        text.n--;
    }
    return text;
}

static void on_line(struct loop_message *m)
{
    struct line *line = (struct line *)(void *)m;
    struct stdio *s = line->stdio;
    const struct request_input in = {.surface = SURFACE_STDIO,
                                     .authorization = trim(dynbuf_get(&line->token)),
                                     .n_authorization = 1,
                                     .body = trim(dynbuf_get(&line->bytes))};
    s->in_flight++;
    request_run(request_new(s->gate_loop, &in, on_reply, line));
}

static void on_ended(struct loop_message *m)
{
    struct stdio *s = (struct stdio *)(void *)((char *)m - offsetof(struct stdio, ended));
    s->input_ended = true;
    stop_if_idle(s);
}

/* The token of this call: the file may have been replaced since the last one. */
static void read_token(const struct stdio *s, struct dynbuf *token)
{
    struct err_detail detail;
    if (!s->token_file) {
        dynbuf_add_text(token, getenv("KBGATE_TOKEN"));
    } else if (!small_file_read(s->token_file, "token-file", token, &detail)) {
        dynbuf_cut(token, 0); /* answered as an invalid token */
        log_event(LOG_ERROR, "token_unreadable", detail.text);
    }
}

static void post_line(struct stdio *s, struct dynbuf *bytes)
{
    if (trim(dynbuf_get(bytes)).n == 0) {
        return;
    }
    struct line *line = mem_alloc(sizeof(*line));
    line->stdio = s;
    line->message.run = on_line;
    line->bytes = *bytes;
    dynbuf_init(bytes, MCP_MAX_BODY_BYTES + 1);
    dynbuf_init(&line->token, TOKEN_FILE_MAX_BYTES);
    read_token(s, &line->token);
    sem_wait(&s->room);
    loop_post(s->loop, &line->message);
}

/* Adds to the line up to its newline; what is longer than a message may be is answered as one that
 * does not parse (its first bytes are posted, the rest of the line is dropped). */
static void take_bytes(struct stdio *s, struct dynbuf *line, struct slice bytes)
{
    while (bytes.n) {
        const char *newline = memchr(bytes.p, '\n', bytes.n);
        size_t n = newline ? (size_t)(newline - bytes.p) : bytes.n;
        size_t room = line->max_bytes - line->n;
        dynbuf_add(line, (struct slice){bytes.p, n < room ? n : room});
        if (newline) {
            post_line(s, line);
            dynbuf_cut(line, 0);
        }
        bytes = slice_skip(bytes, newline ? n + 1 : n);
    }
}

static void *read_input(void *arg)
{
    struct stdio *s = arg;
    char piece[64 * 1024];
    struct dynbuf line;
    dynbuf_init(&line, MCP_MAX_BODY_BYTES + 1);
    for (;;) {
        ssize_t n = read(STDIN_FILENO, piece, sizeof(piece));
        if (n > 0) {
            take_bytes(s, &line, (struct slice){piece, (size_t)n});
        } else if (n == 0 || errno != EINTR) {
            break;
        }
    }
    post_line(s, &line); /* a last line without its newline */
    dynbuf_done(&line);
    loop_post(s->loop, &s->ended);
    return NULL;
}

/* Looks for a new version or policy, as serve's main thread does. */
static void *tick(void *arg)
{
    struct stdio *s = arg;
    for (;;) {
        const struct timespec pause = {.tv_nsec = TICK_MS * 1000000L};
        (void)nanosleep(&pause, NULL);
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
        gate_tick(s->gate, false);
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    }
    return NULL;
}

/* The client's pipe, away from file descriptor 1. */
static int take_stdout(void)
{
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    return fd;
}

static bool run_session(struct stdio *s)
{
    pthread_t reader, ticker;
    s->ended.run = on_ended;
    sem_init(&s->room, 0, IN_FLIGHT_MAX);
    if (pthread_create(&reader, NULL, read_input, s) != 0 ||
        pthread_create(&ticker, NULL, tick, s) != 0) {
        return false;
    }
    loop_run(s->loop);
    pthread_cancel(ticker);
    pthread_join(ticker, NULL);
    pthread_join(reader, NULL);
    sem_destroy(&s->room);
    return true;
}

static int run_stdio(int argc, char **argv)
{
    struct values v = {0};
    int first;
    int result = options_parse(&COMMAND_STDIO, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    if (!v.config || first != argc) {
        return options_usage_error(&COMMAND_STDIO, "--config FILE is needed, and nothing else");
    }
    if (!v.token_file && !getenv("KBGATE_TOKEN")) {
        return options_usage_error(&COMMAND_STDIO,
                                   "a token is needed: --token-file F or KBGATE_TOKEN");
    }
    int client = take_stdout();
    struct err_detail detail = {""};
    struct config *config = config_load(v.config, &detail);
    struct gate *gate = config ? gate_open(config, v.config, &detail) : NULL;
    if (!gate) {
        config_free(config);
        return command_failed(&COMMAND_STDIO, detail.text);
    }
    struct stdio s = {.gate = gate, .loop = loop_new(), .token_file = v.token_file};
    s.gate_loop = gate_loop_open(gate, s.loop);
    s.output = sink_new(client, OUTPUT_MAX_BYTES);
    bool good = run_session(&s);
    sink_free(s.output, OUTPUT_WAIT_MS);
    gate_loop_close(s.gate_loop);
    gate_close(gate);
    loop_free(s.loop);
    config_free(config);
    return good ? EXIT_DONE : command_failed(&COMMAND_STDIO, "no thread could be started");
}

const struct command COMMAND_STDIO = {
    .name = "stdio",
    .arguments = "--config FILE [--token-file F]",
    .summary = "serve one MCP client over standard input and output",
    .description = "Speaks MCP, one JSON-RPC message a line, until standard input ends. The token "
                   "comes from --token-file\n"
                   "or the environment variable KBGATE_TOKEN and passes the same checks as over "
                   "HTTP; an invalid one is\n"
                   "JSON-RPC error -31001, one that opens nothing -31003. Logs go to stderr.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_stdio,
};
