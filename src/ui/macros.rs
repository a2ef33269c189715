/// Leptos' notation for elements. The value of an attribute is one token tree: a literal, a name, or `{…}`.
macro_rules! view {
    ($($rest:tt)*) => {{
        let mut builder = $crate::ui::Builder::default();
        $crate::ui::macros::nodes!(builder $($rest)*);
        builder.done()
    }};
}

macro_rules! nodes {
    ($b:ident) => {};
    ($b:ident < / $tag:ident > $($rest:tt)*) => {
        $b.close();
        $crate::ui::macros::nodes!($b $($rest)*);
    };
    ($b:ident < $tag:ident $($rest:tt)*) => {
        $b.open(stringify!($tag));
        $crate::ui::macros::attributes!($b $($rest)*);
    };
    ($b:ident $text:literal $($rest:tt)*) => {
        $b.text($text);
        $crate::ui::macros::nodes!($b $($rest)*);
    };
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
        $b.close();
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
        $b.fixed(concat!($crate::ui::macros::name!($($name)-+), "=", $value));
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

pub(crate) use {attributes, name, nodes, view};
