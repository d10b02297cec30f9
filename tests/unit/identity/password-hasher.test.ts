import { afterAll, describe, expect, it } from 'vitest';
import { closePasswordHasher, hashPassword, verifyPassword } from '../../../src/core/password-hasher.ts';
import { watchPasswordWork } from '../../support/password-work.ts';

afterAll(closePasswordHasher);

describe('password hasher', () => {
  it('makes bcrypt hashes of cost 12 in which every character counts', async () => {
    const long = 'пароль'.repeat(21);
    const hash = await hashPassword(long);
    expect(hash).toMatch(/^\$2b\$12\$.{53}$/);
    expect(await Promise.all([verifyPassword(long, hash), verifyPassword(`${long.slice(0, -1)}x`, hash)])).toEqual([true, false]);
  });

  it('is false without a hash and does the work of a real one (spec 01 H10)', async () => {
    const hash = await hashPassword('right password');
    const work = watchPasswordWork();
    expect(await verifyPassword('wrong password', hash)).toBe(false);
    expect(await verifyPassword('wrong password', null)).toBe(false);
    work.stop();
    expect(work.computations).toEqual([
      { kind: 'verify', cost: 12 },
      { kind: 'verify', cost: 12 },
    ]);
  });

  it('leaves the event loop free', async () => {
    const work = watchPasswordWork();
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    await hashPassword('something to do');
    clearInterval(timer);
    work.stop();
    // On this thread the timer would not run at all until the hash is made.
    expect(turns).toBeGreaterThan(5);
    expect(work.onThisThread).toEqual([]);
  });

  it('starts again after it was closed', async () => {
    await closePasswordHasher();
    expect(await hashPassword('again')).toMatch(/^\$2b\$12\$/);
  });
});
