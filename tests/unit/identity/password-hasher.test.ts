import { afterAll, describe, expect, it } from 'vitest';
import { closePasswordHasher, hashPassword, verifyPassword } from '../../../src/core/password-hasher.ts';

afterAll(closePasswordHasher);

describe('password hasher', () => {
  it('makes bcrypt hashes of cost 12 in which every character counts', async () => {
    const long = 'пароль'.repeat(21);
    const hash = await hashPassword(long);
    expect(hash).toMatch(/^\$2b\$12\$.{53}$/);
    expect(await Promise.all([verifyPassword(long, hash), verifyPassword(`${long.slice(0, -1)}x`, hash)])).toEqual([true, false]);
  });

  it('is false without a hash and takes the time of a real one (spec 01 H10)', async () => {
    const hash = await hashPassword('right password');
    const time = async (work: () => Promise<boolean>) => {
      const start = performance.now();
      expect(await work()).toBe(false);
      return performance.now() - start;
    };
    const real = await time(() => verifyPassword('wrong password', hash));
    const dummy = await time(() => verifyPassword('wrong password', null));
    expect(dummy).toBeGreaterThan(real / 3);
  });

  it('leaves the event loop free', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    await hashPassword('something to do');
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('starts again after it was closed', async () => {
    await closePasswordHasher();
    expect(await hashPassword('again')).toMatch(/^\$2b\$12\$/);
  });
});
