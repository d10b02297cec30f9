import { afterEach, describe, expect, test } from 'vitest';
import { checkMessenger } from '../../../src/cli/doctor/outside-checks.ts';
import { connectOutsideSystems } from '../../../src/composition/outside-systems.ts';
import { createLogger } from '../../../src/core/log.ts';
import { createMetrics } from '../../../src/core/metrics.ts';
import { attemptSend } from '../../../src/domain/mass-sends/outcome.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';
import { startHttpProxy } from '../../support/http-proxy.ts';
import { startRecorder } from '../../support/loopback-http.ts';
import { startSocksProxy } from '../../support/socks-proxy.ts';
import { testApp } from '../../support/test-app.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** The adapters as in production, with this proxy for the messenger. */
async function connected(proxyUrl: string) {
  const t = await testApp({ environment: { PROXY_URL: proxyUrl, BOT_TOKEN: '1:token', SANDBOX: 'off' } });
  const { env, settings, log, clock, ports } = t.app;
  const metrics = createMetrics();
  const real = connectOutsideSystems({
    env,
    db: t.app.db,
    settings,
    log,
    clock,
    metrics,
    sandbox: null,
    instance: ports.instance,
  });
  return { env, settings, ports: real };
}

/** What is behind the proxies speaks no TLS, so a call ends there; that it was asked for shows the way it took. */
async function startTarget() {
  const target = await startRecorder(() => ({ status: 200, contentType: 'text/plain', body: '' }));
  open.push(target.server);
  return { host: '127.0.0.1', port: Number(new URL(target.server.url).port) };
}

const PROXIES = { http: startHttpProxy, socks5: startSocksProxy };

describe('spec 10 O3: PROXY_URL', () => {
  test.each(['http', 'socks5'] as const)('the API of the messenger is called through a proxy of the kind %s', async (kind) => {
    const proxy = await PROXIES[kind]({ target: await startTarget(), password: 'secret-of-proxy' });
    open.push(proxy);
    const { ports } = await connected(`${kind}://user:secret-of-proxy@${proxy.host}`);
    const error = await ports.messenger.sendMessage(5, 'text').catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(MessengerError);
    expect(proxy.asked).toEqual(['api.telegram.org:443']);
    expect(`${error}${(error as Error).stack}${JSON.stringify(error)}`).not.toContain('secret-of-proxy');
  });

  test.each(['http', 'socks5'] as const)(
    'a dead proxy of the kind %s is an outage: the message was not sent and is tried again',
    async (kind) => {
      const proxy = await PROXIES[kind]({ target: { host: '127.0.0.1', port: 9 } });
      await proxy.close();
      const { env, settings, ports } = await connected(`${kind}://user:secret-of-proxy@${proxy.host}`);
      await expect(ports.messenger.sendMessage(5, 'text')).rejects.toMatchObject({ failure: { kind: 'unavailable' } });
      expect(await attemptSend(() => ports.messenger.sendMessage(6, 'text'))).toMatchObject({ state: 'unsent' });
      const finding = await checkMessenger({ env, settings, ports, fakes: [], sales: null });
      expect(finding.verdict).not.toBe('ok');
      expect(finding.detail).toContain('PROXY_URL: The proxy could not be used');
      expect(JSON.stringify(finding)).not.toContain('secret-of-proxy');
    },
  );

  test('an address of another scheme is refused at start, in one sentence without the password', async () => {
    const { problems } = createSettingsStore({
      environment: { PROXY_URL: 'ftp://user:secret-of-proxy@h:1' },
      log: createLogger({ level: 'silent', format: 'json' }),
    });
    expect(problems).toEqual([
      expect.stringMatching(/^PROXY_URL: .*an http, https, socks5, socks5h or socks4 address of a proxy/),
    ]);
    expect(problems[0]).not.toContain('secret-of-proxy');
  });

  test('doctor says that the proxy refuses the credentials', async () => {
    const proxy = await startHttpProxy({ target: await startTarget(), password: 'right' });
    open.push(proxy);
    const { env, settings, ports } = await connected(`http://user:wrong@${proxy.host}`);
    const finding = await checkMessenger({ env, settings, ports, fakes: [], sales: null });
    expect(finding.detail).toContain('PROXY_URL: The proxy refuses the credentials');
  });
});
