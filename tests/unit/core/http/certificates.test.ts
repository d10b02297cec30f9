import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { isCertainlyUnsent } from '../../../../src/core/http/http-client.ts';
import { createHttpClient } from '../../../../src/core/http/outbound.ts';
import { selfSigned } from '../../../support/self-signed.ts';

test.each(['127.0.0.1', 'localhost'])(
  'a certificate that nobody vouches for is refused at %s too, before anything is sent (spec 06 section 17, hazard 17)',
  async (host) => {
    const requests: (string | undefined)[] = [];
    const server = createServer(selfSigned('localhost'), (request, response) => {
      requests.push(request.url);
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const http = createHttpClient({ system: 'vpnpanel', retries: 0 });
      const url = `https://${host}:${(server.address() as AddressInfo).port}/api/users`;
      const error = await http
        .request({ method: 'GET', url, headers: { authorization: 'Bearer x' } })
        .catch((refused) => refused);
      expect(error).toMatchObject({ failure: expect.any(String), cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
      expect(isCertainlyUnsent(error)).toBe(true);
      expect(requests).toEqual([]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  },
);
