import type { Rows } from '../../../core/db/columns.ts';

/** A link in the default main menu of the chat. */
export type MainMenuButton = Rows['MainMenuButton'];

/** A paragraph that the main menu of the chat may show. */
export type UserMessage = Rows['UserMessage'];

/** The first message to a new user of the chat. */
export type WelcomeText = Rows['WelcomeText'];

export interface TextPage {
  limit: number;
  offset: number;
}

/** A page of a list, with the number of all its rows. */
export interface TextList<T> {
  items: T[];
  total: number;
}
