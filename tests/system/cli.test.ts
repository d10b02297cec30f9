/** The operator's command line as it is run: the built program, one process a command, the embedded database. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRequester } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { memoryStore } from '../../packages/sandbox/src/host-ports.ts';
import { startSandboxPanel } from '../../packages/sandbox/src/panel/sandbox-panel.ts';
import { systemClock } from '../../src/core/clock.ts';
import { fillMigratedFolder } from '../support/migrated-folder.ts';
import { runCommand } from '../support/run-cli.ts';
import { startSmtpServer } from '../unit/mail/smtp-server.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cli-test-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const cli = (words: string, environment: Record<string, string> = {}, input?: string) =>
  runCommand(words.split(' '), { DATA_DIR: dataDir, ...environment }, input === undefined ? {} : { input });

/** Commands that need no file run in the service meanwhile, which has the database open: each by itself would open it for seconds. */
const seenWith = async (work: (service: ServiceProcess) => Promise<void>) => {
  const service = await startServiceProcess({ dataDir });
  try {
    await work(service);
  } finally {
    await service.stop();
  }
};

interface Finding {
  check: string;
  verdict: string;
  detail: string;
  next: string | null;
}

async function doctor(environment: Record<string, string> = {}) {
  const { code, out, err } = await cli('doctor --json', environment);
  expect(err).toBe('');
  const { findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
  return { code, out, of: (check: string) => findings.find((finding) => finding.check === check)! };
}

describe('calling it', () => {
  test('help is not an error, while wrong usage has exit code 2 and a message that says what was wrong', async () => {
    const help = await runCommand([], { DATA_DIR: dataDir });
    expect(help.code).toBe(0);
    for (const name of [
      'doctor',
      'admin create',
      'admin reset-second-factor',
      'token create',
      'token list',
      'token rotate',
      'token revoke',
      'cases list',
      'cases show',
      'cases resolve',
      'migrate',
      'ledger check',
      'gifts refund',
      'gifts resend',
      'approvals list',
      'withdrawals export',
      'withdrawals debts',
      'report',
      'backup create',
      'backup check',
      'backup restore',
      'db move',
      'messenger set-webhook',
      'import check',
      'import run',
      'import delta',
      'import verify',
      'import report',
      'import check-panel',
      'import panel-leftovers',
      'import unpark',
      'import export-since',
      'import env',
    ]) {
      expect(help.out).toContain(name);
    }
    const unknown = await cli('frobnicate');
    expect([unknown.code, unknown.out]).toEqual([2, '']);
    expect(unknown.err).toContain('There is no command "frobnicate".');
    expect((await cli('token')).err).toContain('"token" is the beginning of several commands');
    const nameless = await cli('token create');
    expect([nameless.code, nameless.err]).toEqual([2, expect.stringContaining('"token create" needs NAME.')]);
    expect((await cli('token create shop --days soon')).err).toContain('--days must be a whole number from 1 to 36500');
    expect((await cli('gifts refund 5')).err).toContain('--reason needs 1 to 300 characters.');
    expect((await cli('gifts refund five --reason why')).err).toContain('The id of a gift is a whole number.');
    const stray = await cli('token list --colour');
    expect([stray.code, stray.err]).toEqual([2, expect.stringContaining("'--colour'")]);
    const exporting = 'withdrawals export --from 2026-02-01';
    expect((await cli(exporting)).err).toContain('--to needs a date');
    expect((await cli(`${exporting} --to 2026-02-01`)).err).toContain('--to must be after --from');
    expect((await cli(`${exporting} --to 2026-03-01 --status pending`)).err).toContain('--status must be approved or completed');
    expect((await cli(`${exporting} --to 2026-03-01 --json`)).err).toContain('the CSV needs a file');
    expect((await cli('report')).err).toContain('--period must be day, week or month');
    expect((await cli('report --period week --date 2026-02-30')).err).toContain('--date needs a date');
    expect((await cli('db move mysql://h/d')).err).toContain('The target must be a postgresql:// address.');
  });

  test('all problems of the environment are reported before anything is changed', async () => {
    const answer = await cli('token list', { PORT: 'eighty', CABINET_JWT_SECRET: 'short-and-secret' });
    expect(answer.code).toBe(1);
    expect(answer.err).toContain('PORT: must be a whole number');
    expect(answer.err).toContain('CABINET_JWT_SECRET: must have at least 32 bytes');
    expect(answer.err).not.toContain('short-and-secret');
  });
});

describe('moving in', () => {
  test('a source that cannot be imported has exit code 2, and says what it is in one sentence and as data', async () => {
    const missing = await cli(`import check ${join(dataDir, 'bot.db')} --json`);
    expect([missing.code, missing.err, JSON.parse(missing.out)]).toMatchObject([2, '', { code: 'source_not_found' }]);
    const other = await cli('import check mysql://bot:hidden@host/name');
    expect([other.code, other.out]).toEqual([2, '']);
    expect(other.err).toContain('mysql://bot:***@host/name');
  });

  test('what was chosen for the first pass can be given for a later one', async () => {
    const choices = '--subscriptions keep-latest --provider-subscriptions leave --with-logs --restart';
    for (const command of ['run', 'delta']) {
      const { code, out } = await cli(`import ${command} ${join(dataDir, 'bot.db')} ${choices} --json`);
      expect([command, code, JSON.parse(out)]).toMatchObject([command, 2, { code: 'source_not_found' }]);
    }
  });

  test('an environment file is translated once, and no value of it is printed', async () => {
    const old = join(dataDir, 'old.env');
    await writeFile(old, 'BOT_TOKEN=123456:hidden-token\nREMNAWAVE_API_KEY="hidden key"\nREDIS_URL=redis://hidden\nNEW_KEY=1\n');
    const translated = await cli(`import env ${old}`);
    expect([translated.code, translated.err]).toEqual([0, '']);
    expect(translated.out).not.toContain('hidden');
    expect(translated.out).toMatch(/REDIS_URL +of the old installation/);
    expect(translated.out).toMatch(/NEW_KEY +no setting of this service/);
    const file = join(dataDir, 'service.env');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain("VPNPANEL_API_KEY='hidden key'\n");
    expect((await cli(`import env ${old}`)).err).toContain('exists already');
  });
});

describe('work on one installation, in its order', () => {
  let token: { id: number; token: string };
  const tokensBy = async (service: ServiceProcess, text: string) =>
    (await createRequester(service.url, { 'x-api-key': text }).get('/tokens')).status;

  test('migrate, make a token and an administrator, use both, look beside the running service, revoke, check the ledger', async () => {
    const applied = (answer: { out: string }) => (JSON.parse(answer.out) as { applied: string[] }).applied;
    expect(applied(await cli('migrate --json'))).toContain('0001_baseline');
    expect(applied(await cli('migrate --json'))).toEqual([]);

    const made = await cli('token create shop --days 30 --scopes auth:read,auth:write --addresses 127.0.0.0/8 --json');
    expect(made.code).toBe(0);
    token = JSON.parse(made.out) as typeof token;
    const admin = await cli('admin create Boss@Example.com --json');
    expect(admin.err).toBe('');
    const { password } = JSON.parse(admin.out) as { password: string };
    expect(password).toMatch(/^[\w-]{24}$/);
    expect((await cli('admin create boss@example.com', { ADMIN_EMAILS: 'other@example.com' })).out).toContain(
      'Add boss@example.com to ADMIN_EMAILS',
    );

    await seenWith(async (service) => {
      const list = await cli('token list');
      expect(list.out).toMatch(new RegExp(`^${token.id} +${token.token.slice(0, 8)}… +active .* shop$`, 'm'));
      expect(list.out).not.toContain(token.token);
      expect((await cli('token create shop --scopes users:fly')).err).toContain('Not a scope of an API token');
      const rotated = await cli(`token rotate ${token.id} --overlap 10080 --json`);
      expect(JSON.parse(rotated.out)).toMatchObject({
        id: token.id,
        scopes: ['auth:read', 'auth:write'],
        allowed_addresses: ['127.0.0.0/8'],
      });
      expect((await cli('admin create boss@example.com')).out).toContain('The password is as before.');
      expect(await tokensBy(service, token.token)).toBe(200);
      const login = await createRequester(service.url).post('/cabinet/auth/email/login', { email: 'boss@example.com', password });
      expect(login.status).toBe(200);
      const me = createRequester(service.url, { authorization: `Bearer ${login.body.access_token}` });
      expect((await me.get('/cabinet/auth/me/is-admin')).body).toMatchObject({ is_admin: true });

      // spec 10 K8: the commands that need no file run in the service, which has the embedded database.
      const beside = await cli('token list');
      expect([beside.code, beside.out]).toEqual([0, expect.stringContaining(' shop')]);
      const typed = await cli('admin create second@example.com --password prompt --json', {}, 'typed password\n');
      expect(JSON.parse(typed.out)).toMatchObject({ email: 'second@example.com', is_new: true, is_password_set: true });
      const body = { email: 'second@example.com', password: 'typed password' };
      expect((await createRequester(service.url).post('/cabinet/auth/email/login', body)).status).toBe(200);
      const reset = await cli('admin reset-second-factor second@example.com --json');
      expect(JSON.parse(reset.out)).toEqual({ user_id: expect.any(Number), removed: 0 });
      const failed = await cli('token revoke 4711');
      expect([failed.code, failed.err]).toEqual([1, expect.stringContaining('There is no token 4711.')]);
      const noGift = await cli('gifts refund 4711 --reason why');
      expect([noGift.code, noGift.err]).toEqual([1, expect.stringContaining('Purchase not found')]);
      expect((await cli('approvals list')).out).toBe('Nothing waits.\n');
      expect((await cli('approvals refuse 4711 --reason why')).err).toContain('Approval not found');
      const socket = await stat(join(dataDir, 'command.sock'));
      expect([socket.isSocket(), socket.mode & 0o777]).toEqual([true, 0o600]);

      const refused = await cli('migrate');
      expect([refused.code, refused.out]).toEqual([1, '']);
      expect(refused.err).toContain(`in use by process ${service.process.pid}`);
      expect(refused.err).toContain('Stop the service');
      expect(refused.err).toContain('POST /tokens');
      const { code, of } = await doctor();
      expect([code, of('database').verdict]).toEqual([0, 'warning']);
      expect(await tokensBy(service, token.token)).toBe(200);
    });

    expect((await cli(`token revoke ${token.id}`)).out).toContain('is revoked');
    const payouts = await cli('withdrawals export --from 2026-01-01 --to 2027-01-01');
    expect([payouts.code, payouts.err]).toEqual([0, '']);
    expect(payouts.out).toMatch(/^request_id,status,amount_kopeks,[\w,]+\r\n$/);
    const file = join(dataDir, 'payouts.csv');
    const written = await cli(`withdrawals export --from 2026-01-01 --to 2027-01-01 --output ${file} --json`);
    expect(JSON.parse(written.out)).toEqual({ file, payouts: 0, amount_kopeks: 0 });
    expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual([`\uFEFF${payouts.out}`, 0o600]);
    const twice = await cli(`withdrawals export --from 2026-01-01 --to 2027-01-01 --output ${file}`);
    expect([twice.code, twice.err]).toEqual([1, `${file} exists already.\n`]);
    const asked = await cli('admin create boss@example.com --password prompt', {}, 'another password\n');
    expect(asked.code).toBe(0);
    expect(asked.out + asked.err).not.toContain('another password');
    await seenWith(async (service) => {
      expect(await tokensBy(service, token.token)).toBe(401);
      const signIn = (text: string) =>
        createRequester(service.url).post('/cabinet/auth/email/login', { email: 'boss@example.com', password: text });
      expect([(await signIn(password)).status, (await signIn('another password')).status]).toEqual([401, 200]);
    });

    expect((await cli('ledger check')).out).toContain('The ledger is clean (0 transactions');
    const report = await cli('report --period month --date 2026-11-19');
    expect([report.code, report.out]).toEqual([0, expect.stringContaining('Отчёт за 30 дней, 21.10.2026 – 19.11.2026')]);
    expect((await cli('report --period day --send')).err).toContain('There is no chat or no bot');
    const chat = { BOT_TOKEN: '123:abc', ADMIN_REPORTS_CHAT_ID: '-100' };
    expect((await cli('report --period day --send --json', chat)).code).toBe(0);
    const healthy = await doctor();
    expect([healthy.code, healthy.of('schema').verdict, healthy.of('administrators').detail]).toEqual([0, 'ok', '2 superadmins']);
    const database = await PGlite.create({ dataDir: join(dataDir, 'database') });
    await database.exec(
      'ALTER TABLE users DISABLE TRIGGER USER; UPDATE users SET balance_kopeks = 12345; ALTER TABLE users ENABLE TRIGGER USER',
    );
    await database.close();
    const found = await cli('ledger check');
    expect(found.code).toBe(1);
    expect(found.out).toMatch(/balance_differs_from_ledger +1 +12345 cached, 0 posted/);
    const { code, of } = await doctor();
    expect([code, of('ledger').verdict, of('ledger').detail]).toEqual([1, 'problem', 'balance_differs_from_ledger']);
  });
});

describe('payments that need a decision', () => {
  test('doctor counts them, and they are listed, shown and resolved once, as the audit log says', async () => {
    await fillMigratedFolder(dataDir);
    const admin = JSON.parse((await cli('admin create boss@example.com --json')).out) as { user_id: number };
    expect((await doctor()).of('payment cases')).toMatchObject({ verdict: 'ok', detail: 'none is open' });
    expect((await cli('cases list')).out).toBe('There is no open case.\n');
    const database = await PGlite.create({ dataDir: join(dataDir, 'database') });
    await database.exec(
      `SELECT open_payment_case('unknown_payment', 'yookassa', 'ref-' || n, NULL, NULL, 12300, 'RUB',
         jsonb_build_object('externalId', CASE WHEN n = 1 THEN 'other' ELSE 'same' END), now() - interval '1 hour' * n)
       FROM generate_series(1, 3) n`,
    );
    await database.close();
    const open = await doctor();
    expect([open.code, open.of('payment cases').verdict]).toEqual([0, 'warning']);
    expect(open.of('payment cases').detail).toMatch(/^3 payments need a decision, the oldest since 20/);
    expect(open.of('payment cases').next).toBe('npm run cli -- cases list');

    let [first, second, third]: (number | undefined)[] = [];
    await seenWith(async () => {
      const listed = JSON.parse((await cli('cases list --json')).out) as {
        total: number;
        cases: { id: number; reference: string }[];
      };
      expect([listed.total, listed.cases.map(({ reference }) => reference)]).toEqual([3, ['ref-3', 'ref-2', 'ref-1']]);
      expect((await cli('cases list --limit 1 --page 2')).out).toMatch(/ yookassa +123 ₽ .* open +unknown_payment/);
      [first, second, third] = listed.cases.map(({ id }) => id);
      const shown = await cli(`cases show ${first}`);
      expect(shown.out).toContain('none is known');
      expect(shown.out).toContain(`npm run cli -- cases resolve ${first}`);

      for (const [words, message] of [
        [`cases resolve ${first}`, 'Say one of --credit USER_ID, --refund and --ignore.'],
        [`cases resolve ${first} --refund --ignore`, 'Say one of'],
        [`cases resolve ${first} --ignore`, '--ignore needs --comment TEXT.'],
        [`cases resolve ${first} --refund --kopeks 5`, '--kopeks goes with --credit.'],
        [`cases resolve ${first} --credit me`, '--credit must be a whole number'],
        ['cases list --status closed', '--status must be open, resolved or all'],
      ] as const) {
        const wrong = await cli(words);
        expect([wrong.code, wrong.out, wrong.err]).toEqual([2, '', expect.stringContaining(message)]);
      }
      expect((await cli('cases show 4711')).err).toContain('There is no case 4711');
      expect((await cli(`cases resolve ${first} --credit 4711`)).err).toContain('User not found');

      const credited = await cli(`cases resolve ${first} --credit ${admin.user_id}`);
      expect([credited.err, credited.out]).toEqual([
        '',
        expect.stringMatching(/resolved: transaction \d+ credits user \d+\.\n$/),
      ]);
      const again = await cli(`cases resolve ${first} --credit ${admin.user_id}`);
      expect([again.code, again.err]).toEqual([1, expect.stringContaining('is resolved')]);
      expect((await cli(`cases resolve ${second} --credit ${admin.user_id}`)).err).toContain('was credited meanwhile');
      expect((await cli(`cases resolve ${second} --ignore --comment twice`)).out).toContain('ignored');
      expect((await cli(`cases resolve ${third} --refund`)).out).toContain('Return it in the cabinet of yookassa');
    });
    expect((await doctor()).of('payment cases').verdict).toBe('ok');
    expect((await cli('ledger check')).out).toContain('The ledger is clean (1 transactions');

    const after = await PGlite.create({ dataDir: join(dataDir, 'database') });
    const { rows } = await after.query<{ actor: string; resource: string; resolution: string }>(
      `SELECT actor_name AS actor, resource_id AS resource, details -> 'after' ->> 'resolution' AS resolution FROM admin_audit_log
       WHERE request_method = 'CLI' ORDER BY id`,
    );
    await after.close();
    expect(rows).toEqual([
      { actor: 'command line', resource: `case ${first}`, resolution: 'credit' },
      { actor: 'command line', resource: `case ${second}`, resolution: 'ignore' },
      { actor: 'command line', resource: `case ${third}`, resolution: 'refund' },
    ]);
  });
});

describe('doctor', () => {
  test('a new installation has no problem', async () => {
    const { code, of } = await doctor();
    expect(code).toBe(0);
    expect(of('database').detail).toContain('not made yet');
    expect(of('sandbox').detail).toBe('on: fake vpnpanel, payments, messenger, mail');
    expect(of('mail').detail).toContain('fake');
    expect(of('public URLs').verdict).toBe('warning');
  });

  test('names every fault of the configuration at once and no secret', async () => {
    const secrets = {
      CABINET_JWT_SECRET: 'tiny-secret',
      DATABASE_URL: 'mysql://boss:hunter2-hunter2@h/d',
      BOT_TOKEN: '123456:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    };
    const { code, out, of } = await doctor({ ...secrets, SANDBOX: 'maybe', SMTP_PORT: 'x' });
    expect(code).toBe(1);
    for (const name of ['SANDBOX', 'CABINET_JWT_SECRET', 'DATABASE_URL', 'SMTP_PORT'])
      expect(of('configuration').detail).toContain(name);
    for (const secret of ['tiny-secret', 'hunter2', 'AAAAAAAA']) expect(out).not.toContain(secret);
  });

  test('a database that cannot be reached is a problem with a next step', async () => {
    const { code, out, of } = await doctor({ DATABASE_URL: 'postgresql://boss:hunter2-hunter2@127.0.0.1:1/shop' });
    expect([code, of('database').verdict]).toEqual([1, 'problem']);
    expect(of('database').detail).toContain('database "shop" on 127.0.0.1:1: Nothing answers');
    expect(out).not.toContain('hunter2');
  });

  test('a data folder that is a file is a problem', async () => {
    const path = join(dataDir, 'file');
    await writeFile(path, '');
    const { code, of } = await doctor({ DATA_DIR: join(path, 'below') });
    expect([code, of('data folder').verdict]).toEqual([1, 'problem']);
  });

  test('connects to the panel and the mail server, and reports which credential is wrong', async () => {
    const panel = await startSandboxPanel({
      state: memoryStore(),
      clock: systemClock,
    });
    const smtp = await startSmtpServer();
    const real = {
      SANDBOX: 'off',
      VPNPANEL_API_URL: panel.url,
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(smtp.port),
      SMTP_FROM_EMAIL: 'shop@example.com',
      SMTP_USE_TLS: 'false',
    };
    try {
      const right = await doctor({ ...real, VPNPANEL_API_KEY: panel.apiKey });
      expect(right.of('panel')).toMatchObject({ verdict: 'ok', detail: expect.stringMatching(/^answers; \d+ squad/) });
      expect(right.of('mail')).toMatchObject({ verdict: 'ok', detail: `127.0.0.1:${smtp.port} answers` });
      expect(right.of('messenger')).toMatchObject({ verdict: 'warning', next: expect.stringContaining('BOT_TOKEN') });
      const wrong = await doctor({ ...real, VPNPANEL_API_KEY: 'not-the-key-at-all', SMTP_USE_TLS: 'true' });
      expect(wrong.code).toBe(1);
      expect(wrong.of('panel')).toMatchObject({ verdict: 'problem', next: expect.stringContaining('VPNPANEL_API_KEY') });
      expect(wrong.of('mail')).toMatchObject({ verdict: 'problem', next: expect.stringContaining('SMTP_USE_TLS') });
      expect(wrong.out).not.toContain('not-the-key-at-all');
    } finally {
      await smtp.close();
      await panel.close();
    }
  });
});
