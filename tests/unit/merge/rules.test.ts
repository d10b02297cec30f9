import { describe, expect, it } from 'vitest';
import { higherPartnerStatus, planSubscriptions, referrerCandidates } from '../../../src/domain/merge/merge-accounts.ts';
import type { MergingUser } from '../../../src/domain/merge/types.ts';

const sideWith = (subscriptionId: number | null, panelUuid: string | null = null) => ({ subscriptionId, panelUuid });

describe('planSubscriptions', () => {
  it.each([
    [
      'none',
      sideWith(null),
      sideWith(null),
      true,
      { retainedSubscriptionId: null, deletedSubscriptionId: null, panelFrom: null },
    ],
    [
      'only the primary',
      sideWith(1, 'p'),
      sideWith(null, 's'),
      true,
      { retainedSubscriptionId: 1, isMoved: false, panelFrom: 'primary', abandonedPanelUuid: 's' },
    ],
    [
      'only the secondary',
      sideWith(null, 'p'),
      sideWith(2, 's'),
      false,
      { retainedSubscriptionId: 2, isMoved: true, panelFrom: 'secondary', abandonedPanelUuid: 'p' },
    ],
    [
      'both, primary kept',
      sideWith(1, 'p'),
      sideWith(2, 's'),
      false,
      { retainedSubscriptionId: 1, deletedSubscriptionId: 2, isMoved: false, abandonedPanelUuid: 's' },
    ],
    [
      'both, secondary kept',
      sideWith(1, 'p'),
      sideWith(2, 's'),
      true,
      { retainedSubscriptionId: 2, deletedSubscriptionId: 1, isMoved: true, abandonedPanelUuid: 'p' },
    ],
    [
      'kept without a panel user takes the other one',
      sideWith(1),
      sideWith(2, 's'),
      false,
      { retainedSubscriptionId: 1, panelFrom: 'secondary', isPanelReused: true, abandonedPanelUuid: null },
    ],
  ] as const)('%s', (_name, primary, secondary, keepsSecondary, expected) => {
    expect(planSubscriptions(primary, secondary, keepsSecondary)).toMatchObject(expected);
  });
});

describe('higherPartnerStatus', () => {
  it('goes none, rejected, pending, approved', () => {
    const order = ['none', 'rejected', 'pending', 'approved'] as const;
    for (const [low, a] of order.entries()) {
      for (const [high, b] of order.entries()) expect(higherPartnerStatus(a, b)).toBe(order[Math.max(low, high)]);
    }
  });
});

describe('referrerCandidates', () => {
  const user = (id: number, referredById: number | null) => ({ id, referredById }) as MergingUser;

  it('prefers the own referrer, then the inherited one, and never one of the two', () => {
    expect(referrerCandidates(user(1, 8), user(2, 9))).toEqual([8, 9]);
    expect(referrerCandidates(user(1, 2), user(2, 9))).toEqual([9]);
    expect(referrerCandidates(user(1, null), user(2, 1))).toEqual([]);
    expect(referrerCandidates(user(1, 2), user(2, null))).toEqual([]);
  });
});
