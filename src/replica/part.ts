/** A part of what one replica hands to the others; parts change separately. */
export interface Part {
  readonly name: string;
  /** Another one, by identity, once the part has changed. */
  readonly version: unknown;
  /** JSON. */
  readonly text: () => string;
}

/** A part as it was read from the store. */
export interface ReadPart {
  readonly name: string;
  readonly text: string;
}
