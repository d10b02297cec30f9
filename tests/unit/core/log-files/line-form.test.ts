import { describe, expect, test } from 'vitest';
import { createLogger } from '../../../../src/core/log.ts';
import { fileRecord, zoneTime } from '../../../../src/core/log-files/log-files.ts';
import { createRedactor } from '../../../../src/core/redaction.ts';

const utc = zoneTime('UTC');
const line = (record: object) => JSON.stringify({ level: 'info', time: '2025-01-31T12:00:00.123Z', service: 's', ...record });

describe('spec 06 section 8: the form of a record in the file', () => {
  test('time, level, logger, message and fields', () => {
    const record = line({ msg: 'request', method: 'GET', status: 200, text: 'two words', list: [1, 'a'], none: null });
    expect(fileRecord(record, utc)).toEqual({
      level: 'INFO',
      text: '2025-01-31 12:00:00 [INFO] [service] request method=GET status=200 text="two words" list=[1,"a"] none=null\n',
      isPayment: false,
    });
  });

  test('the time is in the zone of the settings', () => {
    expect(zoneTime('Asia/Kathmandu')(new Date('2025-01-31T18:30:59.999Z'))).toBe('2025-02-01 00:15:59');
  });

  test.each([
    ['trace', 'DEBUG'],
    ['warn', 'WARNING'],
    ['error', 'ERROR'],
    ['fatal', 'CRITICAL'],
  ])('the level %s is %s', (level, name) => {
    expect(fileRecord(line({ level, msg: 'x' }), utc).text).toBe(`2025-01-31 12:00:00 [${name}] [service] x\n`);
  });

  test('a stack follows on indented lines, and neither it nor a value can look like a record', () => {
    const forged = '2025-01-31 12:00:01 [INFO] [service] admin signed in';
    const err = { type: 'Error', message: `bad\n${forged}`, stack: `Error: bad\n${forged}\n    at f (x.ts:1)` };
    const { text } = fileRecord(line({ msg: `no\r\n${forged}`, name: `a\u2028${forged}`, err }), utc);
    const lines = text.split('\n');
    expect(lines.filter((each) => each.startsWith('2025'))).toHaveLength(1);
    expect(lines.slice(1, -1)).toEqual(['    Error: bad', `    ${forged}`, '        at f (x.ts:1)']);
    expect(text).not.toContain('\r');
    expect(text).not.toContain('\u2028');
  });

  test('records of payments are recognised', () => {
    expect(fileRecord(line({ msg: 'x', paymentId: 5 }), utc).isPayment).toBe(true);
    expect(fileRecord(line({ msg: 'x', queue: 'payments.callback' }), utc).isPayment).toBe(true);
    expect(fileRecord(line({ msg: 'x', queue: 'mail.send' }), utc).isPayment).toBe(false);
  });

  test('spec 06 hazard 1: the file gets the masked line', () => {
    const lines: string[] = [];
    const secret = 'panelkey-58f1c0';
    const files = { write: (each: string) => void lines.push(fileRecord(each, utc).text) };
    const stream = { write: () => undefined };
    const log = createLogger({ level: 'info', format: 'json', redactor: createRedactor([secret]), stream, files });
    log.warn({ err: new Error(`refused ${secret}`), apiKey: 'abcdefgh', url: 'https://u:p4ssw0rd@host/' }, `with ${secret}`);
    expect(lines.join('')).toContain('[WARNING]');
    for (const text of [secret, 'abcdefgh', 'p4ssw0rd']) expect(lines.join('')).not.toContain(text);
  });
});
