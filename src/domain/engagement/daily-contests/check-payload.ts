import { ValidationError } from '../../../core/errors.ts';
import { issuesFromZod } from '../../../core/validation-issues.ts';
import { gameBySlug } from './games/known-games.ts';

/**
 * Checks the payload of a template or of a round by the game of the slug; that of an unknown game may be anything.
 * @returns the payload as it was given
 * @throws ValidationError 422 that names the fields that do not fit (spec 04 section 10.4)
 */
export function checkPayload(slug: string, of: 'template' | 'round', payload: Record<string, unknown>): Record<string, unknown> {
  const game = gameBySlug(slug);
  const read = game?.[of].safeParse(payload);
  if (read && !read.success) {
    throw new ValidationError(issuesFromZod(read.error, payload, (path) => ['body', 'payload', ...path.map(String)]));
  }
  return payload;
}
