/** What deploy/monitoring reads must be what the service has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/core/metrics.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', '..', '..', path), 'utf8');
const metrics = createMetrics();
afterAll(() => metrics.close());

/** Names in an expression that are neither functions nor labels: what is followed by a selector, a range, or stands alone. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}/g, '{}')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\bby \([^)]*\)/g, '');
  return [...bare.matchAll(/\b([a-z_]+)\b(?!\s*\()/g)].map((match) => match[1]!);
}

const rules = read('deploy/monitoring/alerts.yml');
const expressions = [...rules.matchAll(/expr: (?:\|\n)?([\s\S]*?)\n {8}(?:for|labels):/g)].map((match) => match[1]!);
const dashboard = JSON.parse(read('deploy/monitoring/grafana/dashboards/service.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const drawn = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

async function knownNames(): Promise<Set<string>> {
  const collected = await metrics.collect();
  const series = ['', '_count', '_sum', '_bucket'];
  return new Set([
    'up',
    ...collected.flatMap(({ name, type }) => (type === 'histogram' ? series.map((end) => name + end) : [name])),
  ]);
}

describe('alerts and dashboard', () => {
  it('name only metrics that the service has', async () => {
    const known = await knownNames();
    const named = [...expressions, ...drawn].flatMap(metricsIn).filter((name) => !known.has(name));
    expect(named).toEqual([]);
  });

  it('are there for every metric that the manual gives an alarm', () => {
    const [, table] = /## Monitoring\n[\s\S]*?\n(\| Metric [\s\S]*?)\n\n/.exec(read('docs/operations.md'))!;
    const inManual = [...table!.matchAll(/`([a-z_]+)(?:\{[^`]*)?`/g)].map((match) => match[1]!).filter((name) => /_/.test(name));
    const inRules = new Set(expressions.flatMap(metricsIn).map((name) => name.replace(/_(?:count|bucket)$/, '')));
    const noRule = inManual.filter((name) => !inRules.has(name) && !['backup_drill_age_seconds', 'circuit_open'].includes(name));
    expect(noRule).toEqual([]);
  });

  it('say what to do', () => {
    const count = (pattern: RegExp) => [...rules.matchAll(pattern)].length;
    const alerts = count(/- alert: /g);
    expect([alerts, count(/ {10}summary: \S/g), count(/ {10}action: \S/g), count(/severity: (?:page|ticket) /g)]).toEqual(
      Array.from({ length: 4 }, () => expressions.length),
    );
  });
});
