/** docs/deployment-two-machines.md: its variables are those of the service, and HAProxy accepts its configuration. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ENV_SCHEMA } from '../../../src/core/env-schema.ts';
import { isSettingKey } from '../../../src/domain/settings/catalogue/catalogue.ts';

const text = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'deployment-two-machines.md'), 'utf8');
const HAPROXY = '/usr/sbin/haproxy';

/** The first block of the document that begins so. */
function blockWith(beginning: string): string {
  const at = text.indexOf(`\n${beginning}`) + 1;
  expect(at, beginning).toBeGreaterThan(0);
  return text.slice(at, text.indexOf('\n```', at) + 1);
}

test('has only variables that the service reads', () => {
  const names = [...blockWith('NODE_ENV=').matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !(name in ENV_SCHEMA.shape) && !isSettingKey(name))).toEqual([]);
});

test('lets the balancer leave an instance before its drain ends', () => {
  const [, instances] = blockWith('global').split('\nbackend instances');
  const [, seconds, failures] = /check inter (\d+)s fall (\d+)/.exec(instances!)!;
  const drainMs = ENV_SCHEMA.parse({}).SHUTDOWN_DRAIN_MS;
  expect(Number(seconds) * (Number(failures) + 1) * 1000).toBeLessThan(drainMs);
});

test.skipIf(!existsSync(HAPROXY))('has a configuration that HAProxy accepts (left out without it)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'two-machines-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, blockWith('global').replace(/ ssl crt \S+ alpn \S+/, ''));
  const { status, stderr } = spawnSync(HAPROXY, ['-c', '-f', file], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('ALERT')]);
});
