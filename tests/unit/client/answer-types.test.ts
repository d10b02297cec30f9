import { expectTypeOf, test } from 'vitest';
import type { Mutation, Query } from '../../../packages/client/src/procedure-types.ts';
import type { CabinetProcedures } from '../../../packages/client/src/procedures.ts';

/** The contract leaves these answers free-form; the client's types name their fields all the same. */

type Subscription = CabinetProcedures['subscription'];
type AnswerOf<T> = T extends Query<never, infer Answer> | Mutation<never, infer Answer> ? Answer : never;
type Answer<Name extends keyof Subscription> = AnswerOf<Subscription[Name]>;

test('the sales mode tells the two forms of purchase options apart', () => {
  type Options = Answer<'purchaseOptions'>;
  type Tariffs = Extract<Options, { sales_mode: 'tariffs' }>;
  type Classic = Extract<Options, { sales_mode: 'classic' }>;
  expectTypeOf<Options['sales_mode']>().toEqualTypeOf<'tariffs' | 'classic'>();
  expectTypeOf<Tariffs['tariffs'][number]['periods'][number]['price_kopeks']>().toEqualTypeOf<number>();
  expectTypeOf<Tariffs['tariffs'][number]['traffic_topup_packages']>().toEqualTypeOf<Record<string, number>>();
  expectTypeOf<Classic['balanceKopeks']>().toEqualTypeOf<number>();
  expectTypeOf<Classic['periods'][number]['servers']['options'][number]['uuid']>().toEqualTypeOf<string>();
});

test('whether devices are sold tells price and reason apart', () => {
  type Price = Answer<'devicePrice'>;
  expectTypeOf<Extract<Price, { available: true }>['total_price_kopeks']>().toEqualTypeOf<number>();
  expectTypeOf<Extract<Price, { available: true }>['max_device_limit']>().toEqualTypeOf<number | null>();
  expectTypeOf<Extract<Price, { available: false }>['reason']>().toEqualTypeOf<string>();
});

test('purchases of traffic and devices and the pause name their amounts', () => {
  expectTypeOf<Answer<'buyTraffic'>['new_balance_kopeks']>().toEqualTypeOf<number>();
  expectTypeOf<Answer<'buyTraffic'>['discount_kopeks']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Answer<'switchTraffic'>['charged_kopeks']>().toEqualTypeOf<number>();
  expectTypeOf<Answer<'purchaseDevices'>['price_label']>().toEqualTypeOf<string>();
  expectTypeOf<Answer<'addDevices'>['amount_paid_kopeks']>().toEqualTypeOf<number>();
  expectTypeOf<Answer<'pause'>['is_paused']>().toEqualTypeOf<boolean>();
});

test('devices, links and downloads have their fields, timestamps as texts', () => {
  expectTypeOf<Answer<'devices'>['devices'][number]['created_at']>().toEqualTypeOf<string | null>();
  expectTypeOf<Answer<'reductionInfo'>['reason']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Answer<'reduceDevices'>['devices_removed']>().toEqualTypeOf<number>();
  expectTypeOf<Answer<'forgetDevice'>['deleted_hwid']>().toEqualTypeOf<string>();
  expectTypeOf<Answer<'forgetDevices'>['deleted_count']>().toEqualTypeOf<number>();
  expectTypeOf<Answer<'connectionLink'>['instructions']['steps']>().toEqualTypeOf<string[]>();
  expectTypeOf<NonNullable<Answer<'clientDownloads'>['platforms']['ios']>['link']>().toEqualTypeOf<string>();
});
