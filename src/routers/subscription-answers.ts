/** Answers that the cabinet and the mini-app give alike. The contract leaves them free-form. */
import { z } from 'zod';
import { publishedAsFreeForm } from './shared.schemas.ts';

/** A daily subscription after pausing or resuming it (spec 02 section 5.12). */
export const PauseAnswer = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    is_paused: z.boolean(),
    balance_kopeks: z.int(),
    balance_label: z.string(),
  }),
);
