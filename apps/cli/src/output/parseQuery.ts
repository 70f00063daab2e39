/**
 * Parses a JMESPath expression and finds errors before there is data: unknown functions, a wrong number or type of arguments, unbound
 * variables, a slice with step 0. The library finds these only during evaluation.
 */
import { compile, registerFunction, TreeInterpreter, TYPE_ANY, TYPE_EXPREF } from "@jmespath-community/jmespath"

type Expression = ReturnType<typeof compile>

const { runtime } = TreeInterpreter

/** The name of our function that reads only a field of the object itself. It contains a space, so no expression can call it. */
const ownField = "own field"

registerFunction(
  ownField,
  ([value, name]) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, String(name))
      ? ((value as unknown as Readonly<Record<string, never>>)[String(name)] ?? null)
      : null,
  [{ types: [TYPE_ANY] }, { types: [TYPE_ANY] }]
)

const literal = (value: string): Expression => ({ type: "Literal", value })

const call = (name: string, children: Array<Expression>): Expression => ({ type: "Function", name, children })

/**
 * Whether JavaScript objects inherit a field of this name, such as `constructor`. In JSON the name is an ordinary key, but the library
 * would find the inherited field.
 */
const isInherited = (name: string): boolean => name in {}

/** Fails for a call that is wrong for any data. */
const checkCall = (name: string, args: ReadonlyArray<Expression>): void => {
  if (!runtime.getRegistered().includes(name) || name === ownField) throw new Error(`Unknown function: ${name}()`)
  const signature = runtime._functionTable[name]!._signature
  const min = signature.filter(({ optional = false }) => !optional).length
  const max = signature.at(-1)?.variadic === true ? Number.POSITIVE_INFINITY : signature.length
  if (args.length < min || args.length > max) {
    const bounds = max === min ? String(min) : max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
    throw new Error(`${name}() takes ${bounds} ${bounds === "1" ? "argument" : "arguments"}, not ${args.length}`)
  }
  for (const [at, arg] of args.entries()) {
    const { types } = signature[Math.min(at, signature.length - 1)]!
    const wantsExpression = types.includes(TYPE_EXPREF)
    if (wantsExpression !== (arg.type === "ExpressionReference")) {
      throw new Error(
        `${name}() takes ${wantsExpression ? "an expression, such as &name," : "a value"} as argument ${at + 1}`
      )
    }
  }
}

/** The expression to evaluate; fails if it cannot work. `bound` are the variables in scope. */
const checked = (node: Expression, bound: ReadonlySet<string>): Expression => {
  const inside = (child: Expression) => checked(child, bound)
  switch (node.type) {
    case "Field":
      return isInherited(node.name) ? call(ownField, [{ type: "Current" }, literal(node.name)]) : node
    case "Function": {
      checkCall(node.name, node.children)
      const children = node.children.map((child) =>
        child.type === "ExpressionReference" ? { ...child, child: inside(child.child) } : inside(child)
      )
      return { ...node, children }
    }
    case "ExpressionReference":
      throw new Error("& is allowed only before an argument of a function")
    case "MultiSelectHash":
      // An object literal would lose the key `__proto__`.
      return node.children.some(({ name }) => name === "__proto__")
        ? call("from_items", [
            {
              type: "MultiSelectList",
              children: node.children.map(({ name, value }) => ({
                type: "MultiSelectList",
                children: [literal(name), inside(value)]
              }))
            }
          ])
        : { ...node, children: node.children.map((pair) => ({ ...pair, value: inside(pair.value) })) }
    case "MultiSelectList":
      return { ...node, children: node.children.map(inside) }
    case "LetExpression": {
      const names = new Set([...bound, ...node.bindings.map(({ variable }) => variable)])
      return {
        ...node,
        bindings: node.bindings.map((binding) => ({ ...binding, reference: inside(binding.reference) })),
        expression: checked(node.expression, names)
      }
    }
    case "Binding":
      return { ...node, reference: inside(node.reference) }
    case "Variable":
      if (!bound.has(node.name)) throw new Error(`The variable ${node.name} is not bound`)
      return node
    case "Slice":
      if (node.step === 0) throw new Error("The step of a slice cannot be 0")
      return node
    case "Ternary":
      return {
        ...node,
        condition: inside(node.condition),
        trueExpr: inside(node.trueExpr),
        falseExpr: inside(node.falseExpr)
      }
    case "FilterProjection":
      return { ...node, left: inside(node.left), right: inside(node.right), condition: inside(node.condition) }
    case "Unary":
      return { ...node, operand: inside(node.operand) }
    case "Flatten":
    case "NotExpression":
      return { ...node, child: inside(node.child) }
    case "AndExpression":
    case "OrExpression":
    case "Pipe":
    case "Projection":
    case "IndexExpression":
    case "Subexpression":
    case "ValueProjection":
    case "Arithmetic":
    case "Comparator":
      return { ...node, left: inside(node.left), right: inside(node.right) }
    case "Current":
    case "Identity":
    case "Index":
    case "Literal":
    case "Root":
      return node
  }
}

/** Throws for an expression that cannot work. */
export const parse = (expression: string): Expression => checked(compile(expression), new Set())
