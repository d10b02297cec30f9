import { afterEach, describe, expect, it } from 'vitest';
import { createMetrics, type LedgerValues, type Metrics } from '../../../src/core/metrics.ts';
import { eventually } from '../../support/eventually.ts';

describe('createMetrics', () => {
  const made: Metrics[] = [];
  const create = (): Metrics => {
    const metrics = createMetrics();
    made.push(metrics);
    return metrics;
  };
  afterEach(() => {
    for (const metrics of made.splice(0)) metrics.close();
  });

  it('counts requests and the ones in flight', async () => {
    const metrics = create();
    const end = metrics.startHttpRequest();
    metrics.startHttpRequest();
    end({ route: '/users/{user_id}', method: 'GET', status: 200 });
    const text = await metrics.render();
    expect(text).toContain('http_requests_in_flight 1\n');
    expect(text).toContain('http_request_duration_seconds_count{route="/users/{user_id}",method="GET",status="200"} 1');
  });

  it('counts outbound attempts by system and outcome', async () => {
    const metrics = create();
    metrics.observeOutbound('vpnpanel', 'ok', 0.2);
    metrics.observeOutbound('vpnpanel', 'timeout', 10);
    metrics.observeOutbound('vpnpanel', 'timeout', 10);
    const text = await metrics.render();
    expect(text).toContain('outbound_requests_total{system="vpnpanel",outcome="ok"} 1');
    expect(text).toContain('outbound_requests_total{system="vpnpanel",outcome="timeout"} 2');
    expect(text).toContain('outbound_request_duration_seconds_sum{system="vpnpanel",outcome="timeout"} 20');
  });

  it('queries its sources at each scrape and drops names that no longer exist', async () => {
    const metrics = create();
    expect(await metrics.render()).not.toMatch(
      /^(db_pool_size|outbox_oldest_age_seconds|job_queue_lag_seconds|websocket_clients)\b.* \d/m,
    );
    let lag: Record<string, number> = { mail: 3, sync: 1 };
    metrics.setPoolSource(() => ({ size: 10, inUse: 4, waiting: 2 }));
    metrics.setOutboxSource(async () => 1.5);
    metrics.setQueueLagSource(() => lag);
    metrics.setWebsocketSource(() => ({ web: 7 }));
    const first = await metrics.render();
    for (const line of [
      'db_pool_size 10',
      'db_pool_in_use 4',
      'db_pool_waiting 2',
      'outbox_oldest_age_seconds 1.5',
      'job_queue_lag_seconds{queue="mail"} 3',
      'websocket_clients{feed="web"} 7',
    ]) {
      expect(first).toContain(`${line}\n`);
    }
    lag = { sync: 2 };
    const second = await metrics.render();
    expect(second).toContain('job_queue_lag_seconds{queue="sync"} 2\n');
    expect(second).not.toContain('queue="mail"');
  });

  it('renders the rest when a source fails', async () => {
    const metrics = create();
    metrics.setOutboxSource(() => Promise.reject(new Error('database down')));
    metrics.setQueueLagSource(() => {
      throw new Error('database down');
    });
    const text = await metrics.render();
    expect(text).not.toMatch(/^outbox_oldest_age_seconds /m);
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  });

  it('shows the ledger check only after one ran', async () => {
    const metrics = create();
    expect(await metrics.render()).not.toMatch(/^ledger_/m);
    let ledger: LedgerValues = { isOk: null, checkedAt: null, ageSeconds: 3, fullAgeSeconds: null };
    metrics.setLedgerSource(() => ledger);
    const waiting = await metrics.render();
    expect(waiting).not.toMatch(/^(ledger_check_ok|ledger_check_timestamp|ledger_full_check_age_seconds) /m);
    expect(waiting).toContain('ledger_check_age_seconds 3\n');
    ledger = { isOk: true, checkedAt: new Date(1_700_000_000_000), ageSeconds: 60, fullAgeSeconds: 600 };
    const text = await metrics.render();
    expect(text).toContain('ledger_check_ok 1\n');
    expect(text).toContain('ledger_check_timestamp 1700000000\n');
    expect(text).toContain('ledger_check_age_seconds 60\n');
    expect(text).toContain('ledger_full_check_age_seconds 600\n');
    ledger = { ...ledger, isOk: false };
    expect(await metrics.render()).toContain('ledger_check_ok 0\n');
  });

  it('sees a blocked event loop', async () => {
    const metrics = create();
    // Again until it was blocked while it was watched.
    await eventually(async () => {
      const until = performance.now() + 80;
      while (performance.now() < until);
      await new Promise((resolve) => setTimeout(resolve, 30));
      const max = /event_loop_delay_seconds\{quantile="1"\} (\S+)/.exec(await metrics.render());
      expect(Number(max?.[1])).toBeGreaterThan(0.05);
    });
  });

  it('keeps instances apart', async () => {
    const one = create();
    one.observeOutbound('mail', 'ok', 1);
    expect(await create().render()).not.toContain('system="mail"');
    expect(one.contentType).toContain('text/plain');
  });
});
