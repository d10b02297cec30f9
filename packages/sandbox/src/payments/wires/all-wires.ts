import type { FakeWire } from '../invoice.ts';
import { cloudpaymentsWire } from './cloudpayments-wire.ts';
import { cryptobotWire } from './cryptobot-wire.ts';
import { freekassaWire, kassaAiWire } from './freekassa-wire.ts';
import { heleketWire } from './heleket-wire.ts';
import { mulenpayWire } from './mulenpay-wire.ts';
import { pal24Wire } from './pal24-wire.ts';
import { plategaWire } from './platega-wire.ts';
import { riopayWire } from './riopay-wire.ts';
import { sandboxWire } from './sandbox-wire.ts';
import { severpayWire } from './severpay-wire.ts';
import { tributeWire } from './tribute-wire.ts';
import { wataWire } from './wata-wire.ts';
import { yookassaWire } from './yookassa-wire.ts';

const WIRES: readonly FakeWire[] = [
  sandboxWire,
  cryptobotWire,
  yookassaWire,
  freekassaWire,
  kassaAiWire,
  severpayWire,
  heleketWire,
  mulenpayWire,
  pal24Wire,
  cloudpaymentsWire,
  tributeWire,
  plategaWire,
  riopayWire,
  wataWire,
];

/** The wire of every fake provider by its method. */
export const FAKE_WIRES: ReadonlyMap<string, FakeWire> = new Map(WIRES.map((wire) => [wire.method, wire]));
