/// Leptos' notation for elements. The value of an attribute is one token tree: a literal, a name, or `{…}`.
///
/// What is fixed becomes one text with holes ([`Builder`](super::Builder) says how it is read), what is not becomes one
/// call for each hole: a call for each element and attribute was a tenth of the page's code.
macro_rules! view {
    ($($rest:tt)*) => {{
        #[allow(unused_mut, reason = "not every view has a hole")]
        let mut builder = $crate::ui::Builder::new($crate::ui::macros::fixed!([] $($rest)*));
        $crate::ui::macros::nodes!(builder $($rest)*);
        builder.done()
    }};
}

/// The fixed part: `[…]` holds what has been read so far.
macro_rules! fixed {
    ([$($f:tt)*]) => { concat!($($f)*) };
    ([$($f:tt)*] < / $tag:ident > $($rest:tt)*) => { $crate::ui::macros::fixed!([$($f)* "\x04",] $($rest)*) };
    ([$($f:tt)*] < $tag:ident $($rest:tt)*) => {
        $crate::ui::macros::fixed_attributes!([$($f)* "\x01", stringify!($tag),] $($rest)*)
    };
    ([$($f:tt)*] $text:literal $($rest:tt)*) => { $crate::ui::macros::fixed!([$($f)* "\x03", $text,] $($rest)*) };
    ([$($f:tt)*] { $($value:tt)* } $($rest:tt)*) => { $crate::ui::macros::fixed!([$($f)* "\x05",] $($rest)*) };
}

macro_rules! fixed_attributes {
    ([$($f:tt)*] > $($rest:tt)*) => { $crate::ui::macros::fixed!([$($f)*] $($rest)*) };
    ([$($f:tt)*] / > $($rest:tt)*) => { $crate::ui::macros::fixed!([$($f)* "\x04",] $($rest)*) };
    ([$($f:tt)*] $kind:ident : $($name:ident)-+ = $value:tt $($rest:tt)*) => {
        $crate::ui::macros::fixed_attributes!([$($f)* "\x05",] $($rest)*)
    };
    ([$($f:tt)*] $($name:ident)-+ = $value:literal $($rest:tt)*) => {
        $crate::ui::macros::fixed_attributes!([$($f)* "\x02", $crate::ui::macros::name!($($name)-+), "=", $value,] $($rest)*)
    };
    ([$($f:tt)*] $($name:ident)-+ = $value:tt $($rest:tt)*) => {
        $crate::ui::macros::fixed_attributes!([$($f)* "\x05",] $($rest)*)
    };
}

/// The calls that fill the holes, in their order.
macro_rules! nodes {
    ($b:ident) => {};
    ($b:ident < / $tag:ident > $($rest:tt)*) => { $crate::ui::macros::nodes!($b $($rest)*); };
    ($b:ident < $tag:ident $($rest:tt)*) => { $crate::ui::macros::attributes!($b $($rest)*); };
    ($b:ident $text:literal $($rest:tt)*) => { $crate::ui::macros::nodes!($b $($rest)*); };
    ($b:ident { $($value:tt)* } $($rest:tt)*) => {
        $b.child($($value)*);
        $crate::ui::macros::nodes!($b $($rest)*);
    };
}

macro_rules! attributes {
    ($b:ident > $($rest:tt)*) => {
        $crate::ui::macros::nodes!($b $($rest)*);
    };
    ($b:ident / > $($rest:tt)*) => {
        $crate::ui::macros::nodes!($b $($rest)*);
    };
    ($b:ident at = $value:tt $($rest:tt)*) => {
        $b.at($value);
        $crate::ui::macros::attributes!($b $($rest)*);
    };
    ($b:ident on : $name:ident = $value:tt $($rest:tt)*) => {
        $b.on(stringify!($name), $value);
        $crate::ui::macros::attributes!($b $($rest)*);
    };
    ($b:ident class : $($name:ident)-+ = $value:tt $($rest:tt)*) => {
        $b.set($crate::ui::value::Place::Class($crate::ui::macros::name!($($name)-+)), $value);
        $crate::ui::macros::attributes!($b $($rest)*);
    };
    ($b:ident style : $($name:ident)-+ = $value:tt $($rest:tt)*) => {
        $b.set($crate::ui::value::Place::Style($crate::ui::macros::name!($($name)-+)), $value);
        $crate::ui::macros::attributes!($b $($rest)*);
    };
    ($b:ident prop : $name:ident = $value:tt $($rest:tt)*) => {
        $b.set($crate::ui::value::Place::Property(stringify!($name)), $value);
        $crate::ui::macros::attributes!($b $($rest)*);
    };
    ($b:ident $($name:ident)-+ = $value:literal $($rest:tt)*) => {
        $crate::ui::macros::attributes!($b $($rest)*);
    };
    ($b:ident $($name:ident)-+ = $value:tt $($rest:tt)*) => {
        $b.set($crate::ui::value::Place::Attribute($crate::ui::macros::name!($($name)-+)), $value);
        $crate::ui::macros::attributes!($b $($rest)*);
    };
}

/// `aria-label`
macro_rules! name {
    ($a:ident) => {
        stringify!($a)
    };
    ($a:ident - $b:ident) => {
        concat!(stringify!($a), "-", stringify!($b))
    };
    ($a:ident - $b:ident - $c:ident) => {
        concat!(stringify!($a), "-", stringify!($b), "-", stringify!($c))
    };
}

pub(crate) use {attributes, fixed, fixed_attributes, name, nodes, view};
