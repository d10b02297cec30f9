import { describe, expect, it } from 'vitest';
import { loadEnv } from '../../../src/core/env.ts';
import { createLogger, type LogFormat, loadLogFormat } from '../../../src/core/log.ts';
import { createRedactor, isSecretKey, secretValuesIn } from '../../../src/core/redaction.ts';

const BOT_TOKEN = '1234567890:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1';
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const API_TOKEN = 'sst_9fQ2mZx7Lk0pWv3RtY8uAa5BcDeFgHiJ';
const DB_PASSWORD = 'p4ss/w"rd\\x';
const PANEL_KEY = 'panelkey-58f1c0';
const SECRETS = [BOT_TOKEN, JWT, API_TOKEN, DB_PASSWORD, PANEL_KEY, 'hunter2hunter2', 'AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1'];

function capture(format: LogFormat = 'json', values: string[] = [DB_PASSWORD, PANEL_KEY]) {
  const lines: string[] = [];
  const redactor = createRedactor(values);
  const log = createLogger({ level: 'trace', format, redactor, stream: { write: (line) => lines.push(line) } });
  return { log, lines, redactor };
}

function expectClean(text: string): void {
  expect(text).not.toBe('');
  for (const secret of SECRETS) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
  }
}

class PanelError extends Error {
  readonly responseBody: string;
  constructor(message: string, responseBody: string) {
    super(message);
    this.name = 'PanelError';
    this.responseBody = responseBody;
  }
}

describe('createLogger', () => {
  it.each([
    'password',
    'newPassword',
    'token',
    'refresh_token',
    'access_token',
    'accessToken',
    'secret',
    'clientSecret',
    'authorization',
    'Proxy-Authorization',
    'api_key',
    'apiKey',
    'x-api-key',
    'X-API-Key',
    'cookie',
    'set-cookie',
    'init_data',
    'initData',
    'dsn',
    'databaseUrl',
    'cabinetJwtSecret',
  ])('blanks the key %s at any depth', (key) => {
    const { log, lines } = capture();
    log.info({ [key]: 'hunter2hunter2', a: [{ b: { [key]: { deeper: 'hunter2hunter2' } } }] }, 'hello');
    log
      .child({ ctx: { [key]: 'hunter2hunter2' } })
      .child({ inner: { [key]: ['hunter2hunter2'] } })
      .info('child');
    expectClean(lines.join(''));
    expect(JSON.parse(lines[0]!)).toMatchObject({
      msg: 'hello',
      level: 'info',
      service: 'subscription-service',
      [key]: '[redacted]',
    });
  });

  it('does not redact keys that only resemble secrets', () => {
    const { log, lines } = capture();
    log.info({ tokenPrefix: 'sst', passwordResetHours: 1, code: 'not_found', userId: 7, at: new Date(0), token: null }, 'x');
    expect(JSON.parse(lines[0]!)).toMatchObject({
      tokenPrefix: 'sst',
      passwordResetHours: 1,
      code: 'not_found',
      userId: 7,
      at: '1970-01-01T00:00:00.000Z',
      token: null,
    });
  });

  it.each([
    ['a JWT', `session ${JWT} rejected`],
    ['a JWT after a newline', `first line\n${JWT}`],
    ['an API token', `key\n${API_TOKEN}!`],
    ['a Bearer header', 'Authorization: Bearer hunter2hunter2'],
    ['a bot token in a URL', `POST https://api.example.org/bot${BOT_TOKEN}/sendMessage failed`],
    ['URL credentials', 'connect postgresql://app:hunter2hunter2@db:5432/app'],
    ['a token as URL user', 'dsn https://hunter2hunter2@sentry.example.org/1'],
    ['a query string', 'GET /ws?a=1&token=hunter2hunter2&b=2'],
    ['an api_key query', 'GET /ws?api_key=hunter2hunter2'],
    ['a JSON body as text', 'body {"user":"a","password":"hunter2hunter2"}'],
    ['a nested JSON body as text', `body ${JSON.stringify({ inner: '{"refresh_token":"hunter2hunter2","x":1}' })}`],
    ['a quote and a backslash in a JSON body', `body ${JSON.stringify({ password: 'x"hunter2hunter2\\', next: 1 })}`],
    ['the same one level deeper', JSON.stringify(JSON.stringify({ password: 'x"hunter2hunter2\\', next: 1 }))],
    ['a JSON body that was cut', '{"a":{"client_secret":"hunter2hunter2'],
    ['a registered key', `using ${PANEL_KEY}.`],
    ['a registered password that JSON escapes', `login with ${DB_PASSWORD} failed`],
    ['a registered password in a URL', `postgres://app:${encodeURIComponent(DB_PASSWORD)}@db`],
  ])('blanks %s in messages, fields, arguments, errors and stacks', async (_name, text) => {
    for (const format of ['json', 'pretty'] as const) {
      const { log, lines } = capture(await loadLogFormat(format));
      log.info(text);
      log.info('value %s', text);
      log.info({ comment: text, list: [text], map: new Map([['k', text]]) }, 'fields');
      log.error(new Error(text));
      log.error({ err: new PanelError(text, text) }, 'wrapped');
      log.error({ failure: new Error('outer', { cause: new Error(text) }) });
      log.error({ err: new AggregateError([new Error(text)], 'many') });
      log.child({ comment: text }).warn('child');
      expect(lines.length).toBeGreaterThanOrEqual(8);
      expectClean(lines.join(''));
      expectClean(lines.join('').replaceAll('\\"', '"'));
      if (format === 'json') for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
    }
  });

  it('blanks secrets in raw header lists', () => {
    const { log, lines } = capture();
    log.info({ rawHeaders: ['Host', 'x', 'Cookie', 'sid=hunter2hunter2', 'X-Api-Key', 'hunter2hunter2'] }, 'in');
    expectClean(lines[0]!);
    expect(JSON.parse(lines[0]!).rawHeaders).toEqual(['Host', 'x', 'Cookie', '[redacted]', 'X-Api-Key', '[redacted]']);
  });

  it('learns secrets at run time', () => {
    const { log, lines, redactor } = capture('json', []);
    log.info('key rotated-key-77');
    redactor.register(['rotated-key-77']);
    log.info('key rotated-key-77');
    expect(lines[0]).toContain('rotated-key-77');
    expect(lines[1]).not.toContain('rotated-key-77');
  });

  it('keeps the facts of an error', () => {
    const { log, lines } = capture();
    const error = Object.assign(new Error('boom', { cause: new TypeError('inner') }), { code: 'E_X', status: 503 });
    log.error({ err: error }, 'failed');
    const { err } = JSON.parse(lines[0]!);
    expect(err).toMatchObject({
      type: 'Error',
      message: 'boom',
      code: 'E_X',
      status: 503,
      cause: { type: 'TypeError', message: 'inner' },
    });
    expect(err.stack).toContain('log.test.ts');
  });

  it('handles cycles, depth, bytes, bigint and throwing getters', () => {
    const { log, lines } = capture();
    const loop: Record<string, unknown> = { n: 10n, bytes: Buffer.from(JWT), set: new Set([1]), run: () => 1 };
    loop.self = loop;
    let deep: unknown = 'end';
    for (let i = 0; i < 50; i += 1) deep = { deep };
    log.info({ loop, deep, url: new URL('https://a:hunter2hunter2@b/') }, 'odd');
    const line = JSON.parse(lines[0]!);
    expect(line.loop).toEqual({ n: '10', bytes: `[${JWT.length} bytes]`, set: [1], self: '[circular]' });
    expect(lines[0]).toContain('[too deep]');
    expectClean(lines[0]!);
  });

  it('leaves ordinary text alone and is quick on long lines', () => {
    const { redactor } = capture();
    const text = 'GET /api/v1/users/42?page=2 took 12:30:05.123 ms, uuid 123e4567-e89b-12d3-a456-426614174000';
    expect(redactor.text(text)).toBe(text);
    // Processor time of this thread: whoever else is busy on the machine adds nothing to it.
    const before = process.threadCpuUsage();
    redactor.text('token'.repeat(40_000));
    redactor.text('1'.repeat(200_000));
    redactor.text(`"${'a'.repeat(200_000)}`);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });

  it('writes lines of the level and above', () => {
    const lines: string[] = [];
    const log = createLogger({ level: 'warn', format: 'json', stream: { write: (line) => lines.push(line) } });
    log.info('quiet');
    log.warn('loud');
    expect(lines).toHaveLength(1);
  });
});

describe('secretValuesIn', () => {
  it('finds keys, tokens and passwords of an environment, and nothing else', () => {
    const { raw } = loadEnv({
      BOT_TOKEN,
      VPNPANEL_API_KEY: PANEL_KEY,
      DATABASE_URL: 'postgresql://app:p%40ssw0rd@db:5432/app',
      SMTP_PASSWORD: 'mail-pass-1',
      CABINET_ACCESS_TOKEN_EXPIRE_MINUTES: '15',
      WEB_API_DEFAULT_TOKEN_NAME: 'Bootstrap Token',
      CABINET_URL: 'https://cabinet.example.org',
      POSTGRES_PASSWORD: 'root',
    });
    expect(secretValuesIn(raw).sort()).toEqual(
      [BOT_TOKEN, PANEL_KEY, 'postgresql://app:p%40ssw0rd@db:5432/app', 'p%40ssw0rd', 'p@ssw0rd', 'mail-pass-1'].sort(),
    );
  });
});

describe('isSecretKey', () => {
  it.each(['tokenType', 'passwordHash2Rounds', 'cookieConsentAt', 'secretary'])('does not blank %s', (key) => {
    expect(isSecretKey(key)).toBe(false);
  });
});
