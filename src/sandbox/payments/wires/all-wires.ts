import type { FakeWire } from '../fake-wire.ts';
import { cloudpaymentsWire } from './cloudpayments-wire.ts';
import { cryptobotWire } from './cryptobot-wire.ts';
import { sandboxWire } from './sandbox-wire.ts';
import { tributeWire } from './tribute-wire.ts';
import { yookassaWire } from './yookassa-wire.ts';

const WIRES: readonly FakeWire[] = [sandboxWire, cryptobotWire, yookassaWire, cloudpaymentsWire, tributeWire];

/** The wire of every fake provider by its method. */
export const FAKE_WIRES: ReadonlyMap<string, FakeWire> = new Map(WIRES.map((wire) => [wire.method, wire]));
