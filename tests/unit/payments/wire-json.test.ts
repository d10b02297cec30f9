import { describe, expect, it } from 'vitest';
import { parseWireObject, textField } from '../../../src/integrations/payments/wire/json.ts';

describe('JSON of providers (03a sections 0.2 and 0.8)', () => {
  it('keeps numbers as sent', () => {
    const object = parseWireObject('{"a":100.10,"b":"x","c":12345678901234567890}');
    expect([textField(object, 'a'), textField(object, 'b'), textField(object, 'c')]).toEqual([
      '100.10',
      'x',
      '12345678901234567890',
    ]);
  });

  it.each([
    ['a repeated key with another value', '{"a":1,"a":2}'],
    ['a repeated key with the same value', '{"a":1,"a":1}'],
    ['a repeated key deep inside', '{"a":[{"b":{"c":"x","c":"x"}}]}'],
    ['a list', '[1]'],
    ['a number', '1'],
    ['nothing', ''],
    ['more than sixteen levels', `${'{"a":'.repeat(17)}1${'}'.repeat(17)}`],
  ])('refuses %s', (_name, text) => {
    expect(parseWireObject(text)).toBeNull();
  });

  it.each(['{"a":"b\\":","c":"{\\"d\\":1}"}', '{"a:":"b","c" :1,"e":[{"a":1},{"a":1}]}', '{"__proto__":1}'])(
    'reads %s',
    (text) => {
      expect(parseWireObject(text)).not.toBeNull();
    },
  );
});
