import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type RunningService, startService } from '../../../src/composition/start-service.ts';
import { loadEnv } from '../../../src/core/env.ts';
import { createLogger } from '../../../src/core/log.ts';
import { LogFiles } from '../../../src/core/log-files/log-files.ts';
import { createMetrics } from '../../../src/core/metrics.ts';
import { createRedactor } from '../../../src/core/redaction.ts';
import { createApiToken } from '../../../src/domain/access/manage-tokens.ts';
import { emptyDatabaseOnServer, serverUrl } from '../../support/test-database.ts';

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string };
}

interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  links?: { traceId: string }[];
}

/** A collector that receives OTLP as JSON over HTTP. */
const spans: ReceivedSpan[] = [];
const metricNames = new Set<string>();
let received = '';
const headers: unknown[] = [];
let collector: Server;
let service: RunningService;
let token: string;
let folder: string;
let database: { url: string; drop(): Promise<void> } | null = null;

beforeAll(async () => {
  collector = createServer(async (request, reply) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    received += text;
    headers.push(request.headers.authorization);
    const body = JSON.parse(text);
    for (const resource of body.resourceSpans ?? []) {
      for (const scope of resource.scopeSpans) spans.push(...scope.spans);
    }
    for (const resource of body.resourceMetrics ?? []) {
      for (const scope of resource.scopeMetrics) for (const metric of scope.metrics) metricNames.add(metric.name);
    }
    reply.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(join(tmpdir(), 'telemetry-'));
  if (serverUrl) database = await emptyDatabaseOnServer();
  const env = loadEnv({
    ...{
      NODE_ENV: 'test',
      DATA_DIR: folder,
      LOG_ROOT: folder,
      HOST: '127.0.0.1',
      PORT: '0',
      SANDBOX: 'on',
      WEB_API_REQUEST_LOGGING: 'true',
    },
    ...(database ? { DATABASE_URL: database.url } : {}),
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector',
    OTEL_TRACES_SAMPLER_ARG: '1',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
  });
  const redactor = createRedactor();
  const logFiles = new LogFiles();
  const log = createLogger({ level: 'debug', format: 'json', redactor, stream: { write: () => undefined }, files: logFiles });
  service = await startService({ env, log, logFiles, metrics: createMetrics(), redactor });
  const made = await createApiToken(
    service.app,
    { kind: 'system', name: 'test' },
    { name: 'trace', description: null, expiresAt: null },
  );
  token = made.token;
}, 300_000);

afterAll(async () => {
  await service?.stop(0);
  await new Promise((resolve) => collector.close(resolve));
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const post = async (path: string, body: object, more: Record<string, string> = {}) => {
  const reply = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': token, 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
  return { status: reply.status, body: (await reply.json()) as { id: number } };
};

/** The spans of the trace with this request, once `isComplete` is true for them; the exporter sends every five seconds. */
async function traceOf(name: string, isComplete: (trace: ReceivedSpan[]) => boolean): Promise<ReceivedSpan[]> {
  return vi.waitFor(
    () => {
      const root = spans.findLast((span) => span.name === name);
      const trace = spans.filter((span) => span.traceId === root?.traceId);
      if (!root || !isComplete(trace))
        throw new Error(`no complete trace of ${name}: ${trace.map((span) => span.name).join(', ')}`);
      return trace;
    },
    { timeout: 90_000, interval: 200 },
  );
}

const attributeOf = (span: ReceivedSpan, key: string) => {
  const value = span.attributes.find((attribute) => attribute.key === key)?.value;
  return value?.stringValue ?? (value?.intValue === undefined ? undefined : Number(value.intValue));
};

const person = { messenger_id: 987_654_321_987, username: 'trace_me_not', first_name: 'Zaphod' };
let userId: number;
beforeEach(() => {
  spans.length = 0;
});

describe('with a collector', { shuffle: false }, () => {
  test('one trace from the request through SQL and jobs to the call of the panel', async () => {
    userId = (await post('/users', person)).body.id;
    const path = '/subscriptions?search=hidden-in-the-query';
    expect((await post(path, { user_id: userId, is_trial: true })).status).toBe(200);
    const trace = await traceOf('POST /subscriptions', (found) => found.some((span) => span.name.endsWith(' vpnpanel')));
    const byId = new Map(trace.map((span) => [span.spanId, span]));
    const callers = (span: ReceivedSpan | undefined): string[] =>
      span === undefined ? [] : [...callers(byId.get(span.parentSpanId ?? '')), span.name];
    const call = trace.find((span) => span.name.endsWith(' vpnpanel'))!;
    expect(callers(call)).toEqual(['POST /subscriptions', 'transaction', 'job provisioning.push', call.name]);
    expect(attributeOf(call, 'peer.service')).toBe('vpnpanel');
    const root = trace.find((span) => span.name === 'POST /subscriptions')!;
    expect(attributeOf(root, 'http.route')).toBe('/subscriptions');
    expect(attributeOf(root, 'http.response.status_code')).toBe(200);
    const statement = trace.find((span) => /^(INSERT|SELECT|UPDATE|WITH)/.test(span.name))!;
    expect(attributeOf(statement, 'db.query.text')).toMatch(/\$1/);
  });

  test('a call over tRPC has the name of its procedure; a name that a client made up is not passed on', async () => {
    const headers = { 'x-api-key': token };
    await fetch(`${service.url}/trpc/web.auth.list?input=secret-input`, { headers });
    await fetch(`${service.url}/trpc/made-up-by-a-client`, { headers });
    const [span] = await traceOf('GET web.auth.list', (found) => found.length > 1);
    expect(span).toBeDefined();
    await traceOf('GET unknown', () => true);
  });

  test("a caller's traceparent is a link by default, not the trace itself", async () => {
    const caller = 'ab'.repeat(16);
    await post('/users', { messenger_id: 987_654_321_988 }, { traceparent: `00-${caller}-${'cd'.repeat(8)}-01` });
    const trace = await traceOf('POST /users', () => true);
    const root = trace.find((span) => span.name === 'POST /users')!;
    expect(root.traceId).not.toBe(caller);
    expect(root.links?.map((link) => link.traceId)).toEqual([caller]);
  });

  test('the metrics are those of GET /metrics', async () => {
    await vi.waitFor(
      () => expect([...metricNames]).toEqual(expect.arrayContaining(['http_request_duration_seconds', 'db_pool_size'])),
      {
        timeout: 60_000,
      },
    );
    expect(new Set(headers)).toEqual(new Set(['Bearer of-the-collector']));
  });

  test('spec 06 hazard 18: the query string of a socket is neither logged nor exported', async () => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws?token=${token}`);
    await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }));
    socket.close();
    const log = await vi.waitFor(
      async () => {
        const text = await readFile(join(folder, 'logs', 'bot.log'), 'utf8');
        expect(text).toContain('a socket was opened');
        return text;
      },
      { timeout: 20_000 },
    );
    expect(log).not.toContain(token);
    expect(log).not.toContain('token=');
    expect(received).not.toContain(token);
  });

  test('neither secrets nor data of users, queries or parameters are exported', async () => {
    expect(received).toContain('vpnpanel');
    for (const text of [
      token,
      String(person.messenger_id),
      person.username,
      person.first_name,
      'hidden-in-the-query',
      'secret-input',
      'made-up-by-a-client',
    ])
      expect(received).not.toContain(text);
  });

  test('the stored payload of a job is what its schema says; the system log is written', async () => {
    const rows = await service.app.db.sql<{ data: object }>("SELECT data FROM jobs.job WHERE data ? '_traceparent'");
    expect(rows.length).toBeGreaterThan(0);
    await vi.waitFor(
      async () => expect(await readFile(join(folder, 'logs', 'bot.log'), 'utf8')).toContain('[INFO] [service] request '),
      {
        timeout: 10_000,
      },
    );
  });
});

test('without a collector no module of the SDK is loaded', () => {
  const root = join(import.meta.dirname, '..', '..', '..');
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { startTelemetry } = await import('./src/core/telemetry/start-telemetry.ts');
    await import('./src/composition/start-service.ts');
    const tracing = await startTelemetry({ env: null });
    const sdk = loaded.filter((url) => /@opentelemetry[/](?!api[/])/.test(url));
    console.log(JSON.stringify({ isOn: tracing.isOn, sdk, modules: loaded.length > 100 }));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' });
  expect(stdout, stderr).not.toBe('');
  expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({ isOn: false, sdk: [], modules: true });
});
