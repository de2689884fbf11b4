import type { EndpointFields, ModelFields } from '../config/schemas.ts';

/** Where requests go. `name`: `openai`, `ollama`, or what the person called it; no `keyVariables`: no key is needed. */
export type Endpoint = EndpointFields &
  Required<Pick<EndpointFields, 'wire' | 'baseUrl' | 'keyVariables' | 'local'>> & { readonly name: string };

type Known = Omit<ModelFields, 'model'>;
type Wish = 'temperature' | 'topP' | 'price';

/** What is known of a model: from the configuration, the table, or a guess that errs on the small side. */
export type Capabilities = Readonly<Required<Omit<Known, Wish>> & Pick<Known, Wish>>;

export interface Model {
  readonly endpoint: Endpoint;
  /** As the endpoint calls it. */
  readonly id: string;
  readonly capabilities: Capabilities;
  /** Those of them that the person has configured: nobody knows better. */
  readonly configured?: Partial<Capabilities>;
}

/** `endpoint/id`, as a person writes it. */
export const nameOf = ({ endpoint, id }: Model): string => `${endpoint.name}/${id}`;
