/**
 * Each alert of deploy/monitoring fires once: a Prometheus of Debian reads the metrics as the service renders them, while everything that
 * an alert is about is wrong. Time spans of the rules are cut to seconds; `promtool` has tried them at their length.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../src/core/metrics.ts';
import { eventually } from '../support/eventually.ts';

const monitoring = join(import.meta.dirname, '..', '..', 'deploy', 'monitoring');
const PROMETHEUS = '/usr/bin/prometheus';
/** Of Debian's package "prometheus"; `.ci/run` installs it. */
const hasPrometheus = existsSync(PROMETHEUS);

const namesIn = (rules: string) => [...rules.matchAll(/- alert: (\w+)/g)].map((match) => match[1]!).sort();

describe.skipIf(!hasPrometheus)('the alerts', () => {
  let folder: string;
  let metrics: Metrics;
  let exporter: Server;
  let prometheus: ChildProcess;
  let url: string;
  let unblock: (() => void) | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'alerts-'));
    metrics = createMetrics();
    everythingWrong(metrics);
    unblock = blockEventLoop();
    exporter = createServer((_request, response) => {
      for (let call = 0; call < 4; call++) metrics.observeOutbound('panel', 'timeout', 5);
      metrics.observeOutbound('panel', 'ok', 0.1);
      metrics.countPanelEvent('refused');
      metrics.startHttpRequest()({ route: '/users', method: 'GET', status: 500 });
      void metrics.render().then((text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text));
    }).listen(0, '127.0.0.1');
    await once(exporter, 'listening');
    url = await startPrometheus(folder, (exporter.address() as AddressInfo).port, (child) => {
      prometheus = child;
    });
  });
  afterAll(async () => {
    unblock?.();
    prometheus?.kill();
    if (prometheus?.exitCode === null) await once(prometheus, 'exit');
    exporter.close();
    metrics.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('pass the tests of their rules', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yml'], {
      cwd: monitoring,
      encoding: 'utf8',
    });
    expect([status, stderr, stdout.includes('SUCCESS')]).toEqual([0, '', true]);
  });

  it('fire from the metrics of the service', async () => {
    const wanted = namesIn(await readFile(join(monitoring, 'alerts.yml'), 'utf8'));
    const firing = async () => {
      const answer = await fetch(`${url}/api/v1/alerts`);
      const { data } = (await answer.json()) as { data: { alerts: { state: string; labels: { alertname: string } }[] } };
      return [...new Set(data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname))].sort();
    };
    await eventually(async () => expect(await firing()).toEqual(wanted));
  });
});

/** Whatever the service would report on its worst day. */
function everythingWrong(metrics: Metrics): void {
  metrics.setLedgerSource(() => ({ isOk: false, checkedAt: new Date(0), ageSeconds: 7_300, fullAgeSeconds: 1_300_000 }));
  metrics.setBackupSource(() => ({ ageSeconds: 180_000, drill: { isOk: false, ageSeconds: 10 } }));
  metrics.setPoolSource(() => ({ size: 10, inUse: 10, waiting: 4 }));
  metrics.setReplicaSource(() => ({ isUsable: false, answered: 0, failed: 3 }));
  metrics.setQueueLagSource(() => ({ 'mail.send': 400 }));
  metrics.setOutboxSource(async () => 700);
}

/** Half of the time, and never for so long that a scrape would end without an answer. @returns a function that ends it */
function blockEventLoop(): () => void {
  const timer = setInterval(() => {
    const end = performance.now() + 300;
    while (performance.now() < end);
  }, 600);
  return () => clearInterval(timer);
}

async function startPrometheus(folder: string, port: number, started: (child: ChildProcess) => void): Promise<string> {
  const rules = await readFile(join(monitoring, 'alerts.yml'), 'utf8');
  await cp(monitoring, folder, { recursive: true });
  const isSlow = (text: string) => text.replace('> 1\n', '> 0.0001\n');
  await writeFile(join(folder, 'alerts.yml'), isSlow(rules.replace(/for: \d+m/g, 'for: 0s').replace(/\[\d+m\]/g, '[30s]')));
  const config = (await readFile(join(folder, 'prometheus.yml'), 'utf8'))
    .replace(/15s/g, '3s')
    .replace(/ {4}authorization:\n.*\n/, '')
    // The second target is a port that nobody listens on: an instance that is gone.
    .replace("['service:8080']", `['127.0.0.1:${port}', '127.0.0.1:9']`);
  await writeFile(join(folder, 'prometheus.yml'), config);
  const words = [
    '--config.file=prometheus.yml',
    '--web.listen-address=127.0.0.1:0',
    `--storage.tsdb.path=${join(folder, 'data')}`,
  ];
  const child = spawn(PROMETHEUS, words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  started(child);
  let log = '';
  child.stderr.on('data', (text: Buffer) => (log += text));
  return eventually(async () => {
    const found = /component=web msg="Listening on" address=(127\.0\.0\.1:[1-9]\d*)/.exec(log)?.[1];
    expect([found !== undefined, child.exitCode], log).toEqual([true, null]);
    return `http://${found}`;
  });
}
