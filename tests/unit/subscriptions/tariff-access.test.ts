import { describe, expect, it } from 'vitest';
import { effectiveSquads, isFull, squadVisibleTo, tariffVisibleTo } from '../../../src/domain/catalog/find-tariff.ts';
import { aSquad } from './samples.ts';

describe('effective squads (spec 02 H9)', () => {
  it('are the own ones of the tariff, once each', () => {
    expect(effectiveSquads({ allowedSquads: ['b', 'a', 'b'] }, [aSquad('c')])).toEqual(['b', 'a']);
  });

  it('are all available servers when the tariff names none, however many there are', () => {
    const squads = Array.from({ length: 120 }, (_, index) => aSquad(`s${index}`, { isAvailable: index !== 5 }));
    const uuids = effectiveSquads({ allowedSquads: [] }, squads);
    expect(uuids).toHaveLength(119);
    expect(uuids).not.toContain('s5');
  });
});

describe('visibility (spec 02 H19)', () => {
  it.each([
    [[], null, true],
    [[], 3, true],
    [[3, 4], 3, true],
    [[3, 4], 5, false],
    [[3, 4], null, false],
  ])('groups %j for primary group %j: %s', (allowedPromoGroupIds, groupId, visible) => {
    const group = groupId === null ? null : { id: groupId };
    expect(tariffVisibleTo({ allowedPromoGroupIds }, group)).toBe(visible);
    expect(squadVisibleTo({ allowedPromoGroupIds }, group)).toBe(visible);
  });

  it('knows a full server', () => {
    expect(isFull({ maxUsers: 5, currentUsers: 5 })).toBe(true);
    expect(isFull({ maxUsers: 5, currentUsers: 4 })).toBe(false);
    expect(isFull({ maxUsers: null, currentUsers: 999 })).toBe(false);
    expect(isFull({ maxUsers: 0, currentUsers: 0 })).toBe(true);
  });
});
