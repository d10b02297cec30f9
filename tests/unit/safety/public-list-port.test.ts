import { describe, expect, it } from 'vitest';
import { createPublicListPort } from '../../../src/integrations/public-lists/public-list-port.ts';

describe('H25: fetching a published list', () => {
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
});
