import { afterEach, describe, expect, it, vi } from 'vitest';
import { createPublicListPort, publicListPort } from '../../../src/integrations/public-lists/public-list-port.ts';
import { eventually } from '../../support/eventually.ts';

afterEach(() => void vi.useRealTimers());

describe('spec 01 H25: fetching a published list', () => {
  it('ends after 10 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const lists = createPublicListPort({ resolve: () => new Promise(() => {}) });
    let outcome = 'under way';
    lists.fetchText('https://lists.example.com/x.txt').catch((error: { failure: string }) => {
      outcome = error.failure;
    });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(outcome).toBe('under way');
    await vi.advanceTimersByTimeAsync(1);
    await eventually(() => expect(outcome).toBe('timeout'));
  });

  it.each(['http://lists.example.com/x.txt', 'ftp://lists.example.com/x', 'file:///etc/passwd', 'x'])(
    'refuses %s',
    async (url) => {
      await expect(createPublicListPort().fetchText(url)).rejects.toThrow('https');
    },
  );

  it.each([
    'https://127.0.0.1/x',
    'https://10.0.0.5/x',
    'https://[::1]/x',
    'https://169.254.169.254/latest',
    'https://localhost/x',
  ])('never calls %s', async (url) => {
    await expect(createPublicListPort().fetchText(url)).rejects.toMatchObject({ failure: 'blocked' });
  });

  it('never calls a public name that leads inside', async () => {
    const lists = createPublicListPort({ resolve: async () => [{ address: '192.168.1.1', family: 4 }] });
    await expect(lists.fetchText('https://lists.example.com/x.txt')).rejects.toMatchObject({ failure: 'blocked' });
  });

  it.each([
    ['a redirect', 302, 'https://elsewhere.example.com'],
    ['an error page', 500, 'sorry'],
    ['nothing new', 304, ''],
    ['text that was cut at the limit', 200, 'a'.repeat(10 * 1024 * 1024)],
    ['text that was cut inside a character', 200, 'a'.repeat(10 * 1024 * 1024 - 3)],
  ])('takes %s for no list', async (_name, status, text) => {
    const lists = publicListPort({ request: async () => ({ status, text, headers: {} }) as never });
    await expect(lists.fetchText('https://lists.example.com/x.txt')).rejects.toThrow(/the list/);
  });
});
