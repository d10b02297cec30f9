import { expect, it } from 'vitest';
import { OutboundError } from '../../../src/core/http/http-client.ts';
import { errorKind } from '../../../src/core/telemetry/tracing.ts';
import { MailError } from '../../../src/domain/messaging/ports.ts';

it('names the class of an error with its code or failure, and nothing that was said', () => {
  expect(errorKind(new MailError('rejected', 'no mailbox ann@example.org'))).toBe('MailError rejected');
  expect(errorKind(new OutboundError('vpnpanel', 'timeout', 'no answer'))).toBe('OutboundError timeout');
  expect(errorKind(Object.assign(new Error('connect 10.0.0.1'), { code: 'ECONNREFUSED' }))).toBe('Error ECONNREFUSED');
  expect(errorKind(Object.assign(new TypeError('x'), { code: 'user ann@example.org is unknown' }))).toBe('TypeError');
  expect(errorKind('ann@example.org')).toBe('unknown');
});
