import type { ProviderLimit } from '../../../domain/payments/ports.ts';
import { objectField, objectsField, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText } from '../wire/money.ts';
import { API_SYSTEMS } from './order-wire.ts';

/**
 * What an answer of POST /currencies says of the payment systems behind our sub-options: whether they are on and, where it names them, from
 * and up to which sum.
 */
export function systemLimits(answer: WireObject): ProviderLimit[] {
  const systems = objectsField(answer, 'currencies').filter((system) => textField(system, 'currency') === 'RUB');
  return Object.entries(API_SYSTEMS).flatMap(([option, id]) => {
    const system = systems.find((listed) => textField(listed, 'id') === id);
    if (!system) return [];
    const limits = objectField(system, 'limits');
    const kopeks = (name: string) => kopeksFromText(textField(limits, name) ?? '');
    return [{ option, isOn: textField(system, 'is_enabled') === '1', minKopeks: kopeks('min'), maxKopeks: kopeks('max') }];
  });
}
