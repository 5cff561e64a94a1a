import { registerEnumType } from 'type-graphql';
/** An enum of the schema whose values are the texts of the wire; `keyof typeof` the result is the union of them. */
export function defineEnum(name, description, values) {
    const members = Object.fromEntries(values.map((value) => [value, value]));
    registerEnumType(members, { name, description });
    return members;
}
//# sourceMappingURL=define-enum.js.map