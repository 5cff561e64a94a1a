import { getNamedType, isInterfaceType, isLeafType, isObjectType, isRequiredArgument, isUnionType, } from 'graphql';
/**
 * A document for one root field that asks for everything its answer has, so many levels deep, and takes each of its arguments as a variable of the
 * same name.
 */
export function operationDocument(root, name, levels = 3) {
    const field = root.getFields()[name];
    const kind = root.name.toLowerCase();
    const variables = field.args.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
    const args = field.args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
    const call = `${name}${args && `(${args})`} ${selection(getNamedType(field.type), levels)}`;
    return `${kind} ${variables && `(${variables})`} { ${call} }`;
}
function selection(type, levels) {
    if (isLeafType(type))
        return '';
    if (isUnionType(type)) {
        const members = type.getTypes();
        // Fields of one name and two types cannot be asked for side by side.
        const isAgreed = (field) => members.every((member) => String((member.getFields()[field.name] ?? field).type) === String(field.type));
        const parts = members.map((member) => `... on ${member.name} ${fields(member, levels, isAgreed)}`);
        return `{ __typename ${parts.join(' ')} }`;
    }
    return isObjectType(type) || isInterfaceType(type) ? fields(type, levels, () => true) : '';
}
function fields(type, levels, isWanted) {
    const parts = Object.values(type.getFields()).flatMap((field) => {
        if (field.args.some(isRequiredArgument) || !isWanted(field))
            return [];
        const isLeaf = isLeafType(getNamedType(field.type));
        if (!isLeaf && levels <= 1)
            return [];
        return [`${field.name} ${selection(getNamedType(field.type), levels - 1)}`];
    });
    return `{ __typename ${parts.join(' ')} }`;
}
//# sourceMappingURL=operation-document.js.map