import type { z } from 'zod';
import type { Random } from '../../../../core/random.ts';

/** One game: its payloads, what the player sees, and which answer wins (spec 04 sections 10.2 and 10.5). */
export interface GameRules<Template extends z.ZodObject, Round extends z.ZodObject> {
  /** Payload of the template. Every field has a default, so that an empty payload is a game. */
  template: Template;
  /** Payload of a round, with the solution. */
  round: Round;
  /** Draws a round. */
  draw(template: z.output<Template>, random: Random): z.output<Round>;
  /** What the player sees. It must not contain or reveal the solution. */
  show(round: z.output<Round>, random: Random): Record<string, unknown>;
  /** @param answer trimmed */
  isCorrect(round: z.output<Round>, answer: string): boolean;
  instructions: string;
  /** One of them is the answer to a wrong guess. */
  losses: readonly [string, ...string[]];
}

/** A round of a known game whose payload fits it. */
export interface Game {
  show(random: Random): Record<string, unknown>;
  /** @param answer as the client sent it */
  isCorrect(answer: string): boolean;
  instructions: string;
  losses: readonly [string, ...string[]];
}

/** A game by its name, whatever its payloads are. */
export interface AnyGame {
  template: z.ZodObject;
  round: z.ZodObject;
  /** @throws ZodError for a template payload that does not fit */
  draw(payload: unknown, random: Random): Record<string, unknown>;
  /** Null for a payload that does not fit. */
  open(payload: unknown): Game | null;
}

export function game<Template extends z.ZodObject, Round extends z.ZodObject>(rules: GameRules<Template, Round>): AnyGame {
  const { template, round, instructions, losses } = rules;
  return {
    template,
    round,
    draw: (payload, random) => rules.draw(template.parse(payload), random),
    open(payload) {
      const read = round.safeParse(payload);
      if (!read.success) return null;
      return {
        show: (random) => rules.show(read.data, random),
        isCorrect: (answer) => rules.isCorrect(read.data, answer.trim()),
        instructions,
        losses,
      };
    },
  };
}

/** The parts in another order (Fisher and Yates). */
export function shuffled<T>(parts: readonly T[], random: Random): T[] {
  const result = [...parts];
  for (let at = result.length - 1; at > 0; at--) {
    const other = random.int(0, at + 1);
    [result[at], result[other]] = [result[other]!, result[at]!];
  }
  return result;
}

export function pick<T>(choices: readonly [T, ...T[]] | readonly T[], random: Random): T {
  return choices[random.int(0, choices.length)]!;
}
