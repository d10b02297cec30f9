import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, projectRoot, readFiles } from '../../../scripts/checks/source-files.ts';
import { CONFIGURATION, renderConfigurationPage, renderEnvExample } from '../../../scripts/configuration.ts';
import { EnvError, type EnvSource, loadEnv } from '../../../src/core/env.ts';
import { ENV_SCHEMA, namesOf, SECTIONS } from '../../../src/core/env-schema.ts';
import { readProcessEnv } from '../../../src/core/process-env.ts';
import { isSettingKey } from '../../../src/domain/settings/catalogue/catalogue.ts';

function problemsOf(source: EnvSource, readFile?: (path: string) => string): readonly string[] {
  try {
    loadEnv(source, readFile);
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
  return [];
}

const JWT_SECRET = 'k3Zr8vQm1xWc7Yp5Ht2Nb9Ls4Dg6Fj0aUe';
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgresql://u:p@db:5432/app',
  CABINET_JWT_SECRET: JWT_SECRET,
};

describe('loadEnv', () => {
  it('has a default for everything outside production', () => {
    expect(loadEnv({})).toMatchObject({
      nodeEnv: 'development',
      isProduction: false,
      host: '0.0.0.0',
      port: 8080,
      dataDir: './data',
      databaseUrl: null,
      databasePoolSize: 10,
      databaseStatementTimeoutMs: 15_000,
      sandbox: 'auto',
      isSandboxAllowed: true,
      logLevel: 'info',
      logFormat: 'pretty',
      isDocsEnabled: true,
      isCabinetEnabled: true,
      cabinetJwtSecret: null,
      shutdownTimeoutMs: 20_000,
      shutdownDrainMs: 5_000,
      trustedProxies: [],
      webhookAllowedPrivateHosts: [],
    });
  });

  it('switches documentation, sandbox and pretty logs off in production', () => {
    expect(loadEnv(PRODUCTION)).toMatchObject({ isDocsEnabled: false, isSandboxAllowed: false, logFormat: 'json' });
    expect(loadEnv({ ...PRODUCTION, IS_DOCS_ENABLED: 'true' }).isDocsEnabled).toBe(true);
  });

  it.each([
    ['WEB_API_PORT', '9000', { port: 9000 }],
    ['WEB_API_HOST', '127.0.0.1', { host: '127.0.0.1' }],
    ['WEB_API_DOCS_ENABLED', 'false', { isDocsEnabled: false }],
    ['CABINET_TRUSTED_PROXIES', '10.0.0.0/8, ::1', { trustedProxies: ['10.0.0.0/8', '::1'] }],
    ['LOG_LEVEL', 'WARNING', { logLevel: 'warn' }],
    ['LOG_LEVEL', 'CRITICAL', { logLevel: 'fatal' }],
    ['SANDBOX', 'false', { sandbox: 'off', isSandboxAllowed: false }],
    ['CABINET_ENABLED', 'no', { isCabinetEnabled: false }],
    ['WEBHOOK_ALLOWED_PRIVATE_HOSTS', 'LocalHost,127.0.0.1', { webhookAllowedPrivateHosts: ['localhost', '127.0.0.1'] }],
    ['DATABASE_URL', 'postgresql+asyncpg://u:p@db/app', { databaseUrl: 'postgresql://u:p@db/app' }],
    ['PORT', '', { port: 8080 }],
  ])('reads %s=%s', (name, value, expected) => {
    expect(loadEnv({ [name]: value })).toMatchObject(expected);
  });

  it('uses the address without the pooler with a pooler alone', () => {
    const addresses = { DATABASE_URL: 'postgresql://u:p@pooler/app', DATABASE_DIRECT_URL: 'postgresql://u:p@db/app' };
    expect(loadEnv({ ...addresses, DATABASE_POOLER: 'transaction' }).databaseDirectUrl).toBe('postgresql://u:p@db/app');
    expect(loadEnv(addresses).databaseDirectUrl).toBeNull();
  });

  it.each([{ DATABASE_URL: 'postgresql://u:p@pooler/app' }, { DATABASE_DIRECT_URL: 'postgresql://u:p@db/app' }])(
    'requires both addresses with a pooler: %j',
    (addresses) => {
      expect(problemsOf({ ...addresses, DATABASE_POOLER: 'transaction' })).toEqual([
        'DATABASE_DIRECT_URL: and DATABASE_URL are required with DATABASE_POOLER=transaction',
      ]);
    },
  );

  it('prefers the main name over an alias', () => {
    expect(loadEnv({ PORT: '1', WEB_API_PORT: '2' }).port).toBe(1);
  });

  it('reports every problem at once, each beginning with the name that was given', () => {
    const problems = problemsOf({
      WEB_API_PORT: '80a',
      DATABASE_POOL_SIZE: '1',
      DATABASE_URL: 'mysql://root:hunter22@db/app',
      LOG_FORMAT: 'xml',
      CABINET_ENABLED: 'maybe',
      CABINET_JWT_SECRET: 'too-short-value',
      TRUSTED_PROXIES: '10.0.0.0/8,proxy.local',
    });
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual([
      'CABINET_ENABLED',
      'CABINET_JWT_SECRET',
      'DATABASE_POOL_SIZE',
      'DATABASE_URL',
      'LOG_FORMAT',
      'TRUSTED_PROXIES',
      'WEB_API_PORT',
    ]);
    expect(problems.join('\n')).not.toMatch(/hunter22|too-short-value/);
  });

  it.each([
    ['SANDBOX', { SANDBOX: 'on' }],
    ['DATABASE_URL', { DATABASE_URL: '' }],
    ['CABINET_JWT_SECRET', { CABINET_JWT_SECRET: '' }],
    ['CABINET_JWT_SECRET', { CABINET_JWT_SECRET: 'please-change-me-please-change-me-now' }],
    ['CABINET_JWT_SECRET', { CABINET_JWT_SECRET: 'a'.repeat(40) }],
    ['CABINET_JWT_SECRET', { CABINET_JWT_SECRET: 'short-Xk29' }],
    ['WEB_API_DEFAULT_TOKEN', { WEB_API_DEFAULT_TOKEN: 'changeme' }],
    ['WEB_API_DEFAULT_TOKEN', { WEB_API_DEFAULT_TOKEN: 'admin' }],
    ['METRICS_TOKEN', { METRICS_TOKEN: 'your-token-here' }],
    ['WEB_API_TOKEN_HMAC_SECRET', { WEB_API_TOKEN_HMAC_SECRET: 'secret' }],
  ])('refuses production because of %s %#', (name, change) => {
    expect(problemsOf(PRODUCTION)).toEqual([]);
    const problems = problemsOf({ ...PRODUCTION, ...change });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name}: `));
  });

  it('allows the embedded database in production only with the variable, and no JWT secret only without the cabinet', () => {
    expect(problemsOf({ ...PRODUCTION, DATABASE_URL: '', ALLOW_EMBEDDED_IN_PRODUCTION: 'true' })).toEqual([]);
    expect(problemsOf({ ...PRODUCTION, CABINET_JWT_SECRET: '', CABINET_ENABLED: 'false' })).toEqual([]);
  });

  it('reads NAME_FILE secrets for any name, without the last newline', () => {
    const files: Record<string, string> = { '/s/jwt': `${JWT_SECRET}\n`, '/s/panel': 'line1\n\n' };
    const env = loadEnv({ CABINET_JWT_SECRET_FILE: '/s/jwt', VPNPANEL_API_KEY_FILE: '/s/panel' }, (path) => files[path] ?? '');
    expect(env.cabinetJwtSecret).toBe(JWT_SECRET);
    expect(env.raw.VPNPANEL_API_KEY).toBe('line1\n');
    expect(Object.isFrozen(env.raw)).toBe(true);
  });

  it('refuses a secret given twice and a secret file that cannot be read', () => {
    expect(problemsOf({ BOT_TOKEN: 'a', BOT_TOKEN_FILE: '/s/x' }, () => 'b')).toEqual([
      'BOT_TOKEN: is set, and so is BOT_TOKEN_FILE; keep one',
    ]);
    expect(problemsOf({ BOT_TOKEN_FILE: join(tmpdir(), 'no-such-folder', 'token') })).toEqual([
      'BOT_TOKEN_FILE: the file cannot be read (ENOENT)',
    ]);
  });

  it('leaves variables alone that only look like secret files', () => {
    const env = loadEnv({ LOG_FILE: 'logs/bot.log', SSL_CERT_FILE: '/no/such', SOMETHING_CONFIG_FILE: '/no/such/rc' });
    expect(env.raw.LOG).toBeUndefined();
    expect(env.raw.SSL_CERT).toBeUndefined();
    expect(env.raw.LOG_FILE).toBe('logs/bot.log');
  });
});

describe('readProcessEnv', () => {
  it('merges .env under the environment of the process', () => {
    const folder = mkdtempSync(join(tmpdir(), 'env-'));
    try {
      writeFileSync(join(folder, '.env'), 'FROM_DOT_ENV="hello"\nPATH=/overridden\n');
      const source = readProcessEnv(folder);
      expect(source.FROM_DOT_ENV).toBe('hello');
      expect(source.PATH).toBe(process.env.PATH);
    } finally {
      rmSync(folder, { recursive: true });
    }
    expect(readProcessEnv(join(folder, 'gone')).PATH).toBe(process.env.PATH);
  });
});

describe('the schema of the environment', () => {
  const names = Object.keys(ENV_SCHEMA.shape);

  it('has every variable of every section, each with its effect', () => {
    const variables = CONFIGURATION.flatMap((section) => section.variables);
    expect(variables.map(({ name }) => name)).toEqual(names);
    expect(Object.values(SECTIONS).flatMap(Object.keys)).toEqual(names);
    expect(variables.filter(({ effect }) => effect === '')).toEqual([]);
  });

  it('has every variable that the source reads by its name and that is no setting', () => {
    const known = new Set(Object.entries(ENV_SCHEMA.shape).flatMap(([name, variable]) => namesOf(name, variable)));
    const files = readFiles(projectRoot, listFiles(projectRoot, 'src'));
    const read = files.flatMap(({ text }) =>
      [...text.matchAll(/(?:process\.env|\braw)(?:\?\.|\.|\[')([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name!),
    );
    expect(read).toContain('BACKUP_ARCHIVE_PASSWORD');
    // Set by the image and the command of the packed service, not by operators.
    expect(read.filter((name) => !known.has(name) && !isSettingKey(name))).toEqual(['SERVICE_COMMAND']);
  });

  it('gives .env.example and docs/configuration.md (run: node scripts/on-runtime.mjs scripts/configuration.ts --write)', () => {
    const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
    expect(read('.env.example')).toBe(renderEnvExample());
    expect(read('docs/configuration.md')).toBe(renderConfigurationPage());
    for (const name of names) {
      expect(renderEnvExample()).toContain(`\n# ${name}=`);
      expect(renderConfigurationPage()).toContain(`\n| \`${name}\` |`);
    }
  });

  it('accepts its defaults as they are documented', () => {
    const defaults = CONFIGURATION.flatMap((section) => section.variables).map((variable) => [variable.name, variable.default]);
    const { raw: _raw, ...fromDefaults } = loadEnv(Object.fromEntries(defaults));
    const { raw: _none, ...fromNothing } = loadEnv({});
    expect(fromDefaults).toEqual(fromNothing);
  });

  it('checks what several variables have to be together although another one is wrong', () => {
    const problems = problemsOf({
      ...PRODUCTION,
      DATABASE_URL: '',
      PORT: 'x',
      CABINET_ENABLED: 'maybe',
      LOG_LEVEL: 'loud',
      SANDBOX: 'on',
    });
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual([
      'CABINET_ENABLED',
      'DATABASE_URL',
      'LOG_LEVEL',
      'PORT',
      'SANDBOX',
    ]);
  });
});
